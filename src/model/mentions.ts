/**
 * Whom a text speaks to. What stands in closed code (inline on one line, or a block) mentions nobody;
 * backticks that never close are plain text.
 */

export interface TextMentions {
	/** Users in `<@U…>`, in order of appearance, each once. Membership is not looked at here. */
	readonly users: readonly string[];
	/** `<!channel>` or `<!everyone>`. */
	readonly channelWide: boolean;
	/** `<!here>`. */
	readonly here: boolean;
}

const NOBODY: TextMentions = { users: [], channelWide: false, here: false };

const CODE_BLOCK = /```[\s\S]*?```/g;
const INLINE_CODE = /`[^`\n]+`/g;
/** Labels are bounded: what never closes must not be searched to the end again and again. */
const USER = /<@([UW][A-Z0-9]{2,20})(?:\|[^<>]{0,80})?>/g;
const CHANNEL_WIDE = /<!(?:channel|everyone)(?:\|[^<>]{0,80})?>/;
const HERE = /<!here(?:\|[^<>]{0,80})?>/;

export function parseMentions(text: string): TextMentions {
	// Most messages speak to nobody: one look for the opening of any mention settles them.
	if (!text.includes('<@') && !text.includes('<!')) return NOBODY;
	// A space keeps what stands on either side of the code apart.
	const plain = text.includes('`') ? text.replace(CODE_BLOCK, ' ').replace(INLINE_CODE, ' ') : text;
	const users = new Set<string>();
	for (const match of plain.matchAll(USER)) if (match[1]) users.add(match[1]);
	return { users: [...users], channelWide: CHANNEL_WIDE.test(plain), here: HERE.test(plain) };
}
