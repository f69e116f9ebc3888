import { emojiIn, type Piece, parseText, unescapeText, webAddress } from '../parse-text.ts';
import { type Fields, fieldsIn, listIn, stringIn } from './json.ts';

/** Converts the texts of Slack's text objects, images and buttons to pieces. */

/** A text as the pieces to render. */
export type Words = readonly Piece[];

const PLAIN_TYPES = new Set(['plain_text', 'raw_text']);
/** Deeper than real content; untrusted content may be deeper still. */
const MAX_DEPTH = 8;

export const plainWords = (text: string): Words =>
	text === '' ? [] : [{ kind: 'text', text: emojiIn(unescapeText(text)) }];

/** A link if the address is http or https, otherwise only its text. */
export function linkWords(address: unknown, text: string): Words {
	const href = webAddress(address);
	return href ? [{ kind: 'link', href, text: emojiIn(unescapeText(text)) || href }] : plainWords(text);
}

export function wordsIn(textObject: unknown): Words {
	const { type, text } = fieldsIn(textObject);
	return PLAIN_TYPES.has(stringIn(type)) ? plainWords(stringIn(text)) : parseText(stringIn(text));
}

/** A link with the image's description. The page does not load images from other hosts: they would learn who reads what, and when. */
export function imageWords({ image_url: address, slack_file: file, alt_text: alt, title }: Fields): Words {
	const says = stringIn(alt) || stringIn(fieldsIn(title).text) || stringIn(title);
	return linkWords(address ?? fieldsIn(file).url, says ? `Image: ${says}` : 'Image');
}

/** The label of a button, menu or date picker. A button that only opens a page is a link. */
export function controlWords(control: unknown): Words {
	const { text, placeholder, options, url } = fieldsIn(control);
	const label = stringIn(fieldsIn(text).text) || stringIn(text) || stringIn(fieldsIn(placeholder).text);
	if (label) return linkWords(url, label);
	const texts = listIn(options).map((option) => stringIn(fieldsIn(fieldsIn(option).text).text));
	return plainWords(texts.filter(Boolean).join(', '));
}

/** Every text in an object of an unknown type, in order. */
export function everyText(value: unknown, depth = 0): readonly Words[] {
	if (depth > MAX_DEPTH) return [];
	if (Array.isArray(value)) return value.flatMap((one) => everyText(one, depth + 1));
	const fields = fieldsIn(value);
	if (typeof fields.text === 'string') return fields.text === '' ? [] : [wordsIn(fields)];
	const inside = Object.values(fields).flatMap((one) => everyText(one, depth + 1));
	const alt = stringIn(fields.alt_text);
	return alt ? [...inside, plainWords(alt)] : inside;
}
