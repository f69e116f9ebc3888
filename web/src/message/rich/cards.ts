import { parseText } from '../parse-text.ts';
import { controlsPart, fieldsPart, partsOf, wordsPart } from './blocks.ts';
import { type Fields, fieldsIn, listIn, stringIn } from './json.ts';
import type { Field, Part } from './part.ts';
import { imageWords, linkWords, plainWords, type Words } from './words.ts';

/** Converts Slack's attachments to cards: shown below the text of a message, each with a coloured bar. */

export interface Card {
	/** One of Slack's three names, or `#` and hexadecimal digits. */
	readonly colour: string | null;
	/** Text above the card. */
	readonly pretext: Words;
	readonly author: Words;
	readonly title: Words;
	readonly parts: readonly Part[];
	readonly footer: Words;
	/** Seconds since 1970, as a message's ts. */
	readonly ts: string | null;
}

const NAMED = new Set(['good', 'warning', 'danger']);
const HEX = /^#?((?:[0-9a-f]{3}){1,2})$/i;
/** The year 5138: later values are not message times, and much later ones are not valid dates. */
const LAST_S = 1e11;

export const cardsOf = (attachments: readonly unknown[]): readonly Card[] =>
	attachments.map((attachment) => cardOf(fieldsIn(attachment)));

function cardOf(attachment: Fields): Card {
	const { color, pretext, author_name: author, author_link: authorLink, footer } = attachment;
	const card = {
		colour: colourOf(stringIn(color)),
		pretext: parseText(stringIn(pretext)),
		author: linkWords(authorLink, stringIn(author)),
		title: titleOf(attachment),
		footer: plainWords(stringIn(footer)),
		ts: timeOf(attachment.ts),
	};
	const parts = bodyOf(attachment);
	const isEmpty = [card.pretext, card.author, card.title, parts].every(({ length }) => length === 0);
	if (!isEmpty) return { ...card, parts };
	const instead = wordsPart(plainWords(stringIn(attachment.fallback)));
	return { ...card, parts: instead.length > 0 ? instead : [{ kind: 'unknown' }] };
}

const titleOf = ({ title, title_link: link }: Fields): Words =>
	stringIn(title) ? linkWords(link, stringIn(title)) : [];

function bodyOf({
	blocks,
	text,
	fields,
	actions,
	image_url: image,
	thumb_url: thumb,
}: Fields): readonly Part[] {
	if (listIn(blocks).length > 0) return partsOf(listIn(blocks));
	const picture = stringIn(image) || stringIn(thumb);
	return [
		...wordsPart(parseText(stringIn(text))),
		...fieldsPart(listIn(fields).map(fieldOf)),
		...(picture ? wordsPart(imageWords({ image_url: picture })) : []),
		...controlsPart(listIn(actions)),
	];
}

function fieldOf(value: unknown): Field {
	const { title, value: text, short } = fieldsIn(value);
	return { title: plainWords(stringIn(title)), words: parseText(stringIn(text)), isShort: short === true };
}

function colourOf(color: string): string | null {
	if (NAMED.has(color)) return color;
	const digits = HEX.exec(color)?.[1];
	return digits ? `#${digits}` : null;
}

function timeOf(value: unknown): string | null {
	const seconds = Number(value);
	return value !== null && value !== '' && seconds > 0 && seconds < LAST_S ? String(seconds) : null;
}
