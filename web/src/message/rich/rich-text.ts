import { emojiNamed } from '../emoji.ts';
import { type Piece, webAddress } from '../parse-text.ts';
import { type Fields, fieldsIn, listIn, stringIn } from './json.ts';
import type { Part } from './part.ts';
import type { Words } from './words.ts';

/** Converts Slack's rich_text block: paragraphs, lists, quotes and code. */

const USER = /^[UW][A-Z0-9]+$/;
const CHANNEL = /^[A-Z0-9]+$/;
const MAX_INDENT = 8;

export const richTextParts = (elements: unknown): readonly Part[] =>
	listIn(elements)
		.map((element) => partOf(fieldsIn(element)))
		.filter((part) => part !== null);

function partOf({ type, elements, style, indent, offset }: Fields): Part | null {
	if (type === 'rich_text_list') {
		const items = listIn(elements).map((item) => inline(fieldsIn(item).elements));
		const from = style === 'ordered' ? (numberIn(offset) ?? 0) + 1 : null;
		return items.length === 0
			? null
			: { kind: 'list', items, from, indent: Math.min(numberIn(indent) ?? 0, MAX_INDENT) };
	}
	if (type === 'rich_text_preformatted') {
		const text = listIn(elements)
			.map((one) => sourceOf(fieldsIn(one)))
			.join('');
		return text === '' ? null : { kind: 'words', words: [{ kind: 'block', text }] };
	}
	const words = inline(elements);
	return words.length === 0 ? null : { kind: type === 'rich_text_quote' ? 'quote' : 'words', words };
}

const numberIn = (value: unknown): number | null =>
	typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const sourceOf = ({ text, url }: Fields): string => stringIn(text) || stringIn(url);

const inline = (elements: unknown): Words =>
	listIn(elements)
		.map((element) => styled(fieldsIn(element)))
		.filter((piece) => piece !== null);

const STYLES = ['bold', 'italic', 'strike'] as const;

function styled(element: Fields): Piece | null {
	const piece = pieceOf(element);
	if (piece === null) return null;
	const style = fieldsIn(element.style);
	const inner: Piece =
		style.code === true && piece.kind === 'text' ? { kind: 'code', text: piece.text } : piece;
	return STYLES.filter((kind) => style[kind] === true).reduce<Piece>(
		(within, kind) => ({ kind, pieces: [within] }),
		inner,
	);
}

const textPiece = (text: string): Piece | null => (text === '' ? null : { kind: 'text', text });

function pieceOf(element: Fields): Piece | null {
	const { type, text, url, user_id: user, channel_id: channel, name, range, fallback } = element;
	switch (type) {
		case 'link': {
			const href = webAddress(url);
			return href ? { kind: 'link', href, text: stringIn(text) || href } : textPiece(sourceOf(element));
		}
		case 'user':
			return USER.test(stringIn(user)) ? { kind: 'user', id: stringIn(user) } : null;
		case 'channel':
			return CHANNEL.test(stringIn(channel)) ? { kind: 'channel', id: stringIn(channel), text: '' } : null;
		case 'broadcast':
			return stringIn(range) ? { kind: 'everyone', text: `@${stringIn(range)}` } : null;
		case 'emoji':
			return stringIn(name) ? textPiece(emojiNamed(stringIn(name)) ?? `:${stringIn(name)}:`) : null;
		case 'color':
			return textPiece(stringIn(element.value));
		default:
			return textPiece(stringIn(text) || stringIn(fallback) || stringIn(element.usergroup_id));
	}
}
