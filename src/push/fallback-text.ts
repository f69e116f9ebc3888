/**
 * The text of a message that has only blocks or attachments: the texts in its blocks, and the fallbacks of its
 * attachments, or else the texts in them. Does not interpret blocks, only searches them for texts. Pure.
 */

type Fields = Readonly<Record<string, unknown>>;

/** Real content is less deep, but clients may send deeper content. */
const MAX_DEPTH = 12;
/** Elements of these types form one line, with their own spaces. */
const LINES = new Set(['rich_text_section', 'rich_text_preformatted', 'rich_text_quote']);
/** The fields of blocks and attachments that contain text, in reading order. */
const TEXT_FIELDS = [
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

export function fallbackText(extra: string | null): string {
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
	if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return '';
	if (Array.isArray(value)) return joined(value.map((one) => textIn(one, depth + 1)));
	const fields = value as Fields;
	if (LINES.has(String(fields.type))) return joined(listIn(fields.elements).map(pieceOf), '');
	const inside = joined(TEXT_FIELDS.map((name) => textIn(fields[name], depth + 1)));
	return inside || (typeof fields.alt_text === 'string' ? fields.alt_text : '');
}

/** Writes users as mentions, so that they are replaced with names. */
function pieceOf(piece: unknown): string {
	const { type, text, url, name, range, user_id: user, fallback } = (piece ?? {}) as Fields;
	if (type === 'user') return `<@${user}>`;
	if (type === 'broadcast') return `@${range}`;
	if (type === 'emoji') return `:${name}:`;
	return [text, url, fallback].find((one) => typeof one === 'string' && one !== '')?.toString() ?? '';
}
