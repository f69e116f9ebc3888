import type { Message, SharedFile } from '@tidemark/client';
import { type Piece, parseText } from './parse-text.ts';
import { partsOf } from './rich/blocks.ts';
import { type Card, cardsOf } from './rich/cards.ts';
import { fieldsIn, stringIn } from './rich/json.ts';
import { type Part, UNKNOWN } from './rich/part.ts';
import { plainWords, type Words } from './rich/words.ts';

/** The content of a message in one line: its text, or, without a text, the texts of its blocks, attachments and files. */

export type MessageContent = Pick<Message, 'text'> &
	Partial<Pick<Message, 'blocks' | 'attachments'>> & {
		readonly files?: readonly Pick<SharedFile, 'isDeleted' | 'title'>[];
	};

export function wordsOf({ text, blocks, attachments, files = [] }: MessageContent): Words {
	if (text.trim() !== '') return parseText(text);
	const ofBlocks = partsOf(blocks ?? []).map(wordsOfPart);
	const ofCards = cardsOf(attachments ?? []).map((card, index) => {
		const fallback = plainWords(stringIn(fieldsIn(attachments?.[index]).fallback));
		return fallback.length > 0 ? fallback : wordsOfCard(card);
	});
	const ofFiles = files.map(({ isDeleted, title }) => plainWords(isDeleted ? 'a deleted file' : title));
	return spaced([...ofBlocks, ...ofCards, ...ofFiles]);
}

const SPACE: Piece = { kind: 'text', text: ' ' };

const spaced = (all: readonly Words[]): Words =>
	all
		.filter((words) => words.length > 0)
		.flatMap((words, index) => (index === 0 ? words : [SPACE, ...words]));

const wordsOfCard = ({ pretext, author, title, parts, footer }: Card): Words =>
	spaced([pretext, author, title, ...parts.map(wordsOfPart), footer]);

function wordsOfPart(part: Part): Words {
	if ('words' in part) return part.words;
	if ('items' in part) return spaced(part.items);
	if (part.kind === 'fields') return spaced(part.fields.flatMap(({ title, words }) => [title, words]));
	return part.kind === 'divider' ? [] : [{ kind: 'text', text: UNKNOWN }];
}
