/**
 * Finds mentions in a text by the server's rules (docs/model.md). The package does not include the server's parser; a
 * test compares the two.
 */

export interface TextMentions {
	readonly isNamed: boolean;
	/** `<!channel>` or `<!everyone>`. Only the server knows whom `<!here>` mentions. */
	readonly isChannelWide: boolean;
}

const NOBODY: TextMentions = { isNamed: false, isChannelWide: false };
const CODE_BLOCK = /```[\s\S]*?```/g;
const INLINE_CODE = /`[^`\n]+`/g;
const USER = /<@([UW][A-Z0-9]{2,20})(?:\|[^<>]{0,80})?>/g;
const CHANNEL_WIDE = /<!(?:channel|everyone)(?:\|[^<>]{0,80})?>/;

export function mentionsOf(text: string, user: string): TextMentions {
	if (!text.includes('<@') && !text.includes('<!')) return NOBODY;
	const plain = text.replace(CODE_BLOCK, ' ').replace(INLINE_CODE, ' ');
	const isNamed = [...plain.matchAll(USER)].some(([, named]) => named === user);
	return { isNamed, isChannelWide: CHANNEL_WIDE.test(plain) };
}
