/**
 * Which users a text mentions. Closed code (inline on one line, or a block) mentions nobody;
 * backticks that are never closed are plain text.
 */

export interface TextMentions {
	/** Users in `<@U…>`, in order of appearance, each once. They need not be members. */
	readonly users: readonly string[];
	/** `<!channel>` or `<!everyone>`. */
	readonly channelWide: boolean;
	/** `<!here>`. */
	readonly here: boolean;
}

const NOBODY: TextMentions = { users: [], channelWide: false, here: false };

const CODE_BLOCK = /```[\s\S]*?```/g;
const INLINE_CODE = /`[^`\n]+`/g;
/** The length of labels is bounded: otherwise an unclosed `<@` would make matching quadratic. */
const USER = /<@([UW][A-Z0-9]{2,20})(?:\|[^<>]{0,80})?>/g;
const CHANNEL_WIDE = /<!(?:channel|everyone)(?:\|[^<>]{0,80})?>/;
const HERE = /<!here(?:\|[^<>]{0,80})?>/;

export function parseMentions(text: string): TextMentions {
	// Most messages mention nobody: skip the parsing.
	if (!text.includes('<@') && !text.includes('<!')) return NOBODY;
	// A space separates the text before the code from the text after it.
	const plain = text.includes('`') ? text.replace(CODE_BLOCK, ' ').replace(INLINE_CODE, ' ') : text;
	const users = new Set<string>();
	for (const match of plain.matchAll(USER)) if (match[1]) users.add(match[1]);
	return { users: [...users], channelWide: CHANNEL_WIDE.test(plain), here: HERE.test(plain) };
}
