import { type Fields, fieldsIn, listIn, stringIn } from './json.ts';
import type { Field, Part } from './part.ts';
import { richTextParts } from './rich-text.ts';
import { controlWords, everyText, imageWords, type Words, wordsIn } from './words.ts';

/** Converts Slack's blocks to parts to render. Unknown blocks still show their texts. */

export const wordsPart = (words: Words, kind: 'header' | 'words' = 'words'): readonly Part[] =>
	words.length > 0 ? [{ kind, words }] : [];

export const fieldsPart = (fields: readonly Field[]): readonly Part[] =>
	fields.length > 0 ? [{ kind: 'fields', fields }] : [];

function itemsPart(kind: 'context' | 'controls', all: readonly Words[]): readonly Part[] {
	const items = all.filter((words) => words.length > 0);
	return items.length > 0 ? [{ kind, items }] : [];
}

export const controlsPart = (controls: readonly unknown[]): readonly Part[] =>
	itemsPart('controls', controls.map(controlWords));

const isImage = (element: unknown): boolean => fieldsIn(element).type === 'image';

const accessoryPart = (accessory: unknown): readonly Part[] =>
	isImage(accessory) ? wordsPart(imageWords(fieldsIn(accessory))) : controlsPart([accessory]);

const READ: ReadonlyMap<string, (block: Fields) => readonly Part[]> = new Map([
	['header', ({ text }: Fields) => wordsPart(wordsIn(text), 'header')],
	[
		'section',
		({ text, fields, accessory }: Fields) => [
			...wordsPart(wordsIn(text)),
			...fieldsPart(
				listIn(fields).map((field) => ({ title: [], words: wordsIn(field), isShort: true as const })),
			),
			...accessoryPart(accessory),
		],
	],
	[
		'context',
		({ elements }: Fields) =>
			itemsPart(
				'context',
				listIn(elements).map((one) => (isImage(one) ? imageWords(fieldsIn(one)) : wordsIn(one))),
			),
	],
	['divider', () => [{ kind: 'divider' as const }]],
	['image', (block: Fields) => wordsPart(imageWords(block))],
	['actions', ({ elements }: Fields) => controlsPart(listIn(elements))],
	['rich_text', ({ elements }: Fields) => richTextParts(elements)],
]);

export const partsOf = (blocks: readonly unknown[]): readonly Part[] =>
	blocks.flatMap((value): readonly Part[] => {
		const block = fieldsIn(value);
		const read = READ.get(stringIn(block.type));
		const parts = read ? read(block) : everyText(block).flatMap((words) => wordsPart(words));
		return parts.length > 0 ? parts : [{ kind: 'unknown' }];
	});
