/**
 * What a message without a text says: the texts in its blocks, and what its attachments name as their fallback, else the
 * texts in them. Blocks are not understood here, only looked through; pure.
 */

type Fields = Readonly<Record<string, unknown>>;

/** Nothing that is read lies deeper; what was sent may. */
const MOST_DEPTH = 12;
/** Their pieces make up one line, with the spaces that they bring along. */
const LINES = new Set(['rich_text_section', 'rich_text_preformatted', 'rich_text_quote']);
/** Where texts stand in blocks and attachments, in the order of reading. */
const INSIDE = [
	'pretext',
	'title',
	'text',
	'label',
	'fields',
	'value',
	'elements',
	'blocks',
	'accessory',
	'rows',
];

export function wordsInstead(extra: string | null): string {
	if (extra === null) return '';
	const { blocks, attachments } = JSON.parse(extra) as Fields;
	return joined([textIn(blocks, 0), ...listIn(attachments).map(ofAttachment)]);
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const joined = (texts: readonly string[], between = ' '): string => texts.filter(Boolean).join(between);

function ofAttachment(attachment: unknown): string {
	const { fallback } = (attachment ?? {}) as Fields;
	return typeof fallback === 'string' && fallback !== '' ? fallback : textIn(attachment, 0);
}

function textIn(value: unknown, depth: number): string {
	if (typeof value === 'string') return value;
	if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return '';
	if (Array.isArray(value)) return joined(value.map((one) => textIn(one, depth + 1)));
	const fields = value as Fields;
	if (LINES.has(String(fields.type))) return joined(listIn(fields.elements).map(pieceOf), '');
	const inside = joined(INSIDE.map((name) => textIn(fields[name], depth + 1)));
	return inside || (typeof fields.alt_text === 'string' ? fields.alt_text : '');
}

/** People are named as in a text, so that they are shown by their names. */
function pieceOf(piece: unknown): string {
	const { type, text, url, name, range, user_id: user, fallback } = (piece ?? {}) as Fields;
	if (type === 'user') return `<@${user}>`;
	if (type === 'broadcast') return `@${range}`;
	if (type === 'emoji') return `:${name}:`;
	return [text, url, fallback].find((one) => typeof one === 'string' && one !== '')?.toString() ?? '';
}
