import type { User } from '@tidemark/client';
import { nameOf } from '../session/names.ts';
import type { Piece } from './parse-text.ts';
import type { Words } from './rich/words.ts';

type Users = ReadonlyMap<string, User>;

/** A message in one line without markup, for lists and screen readers. */
export function plainText(words: Words, users: Users): string {
	const plain = (piece: Piece): string => {
		if (piece.kind === 'user') return `@${nameOf(users.get(piece.id)) || 'someone'}`;
		if (piece.kind === 'channel') return `#${piece.text || 'channel'}`;
		return 'pieces' in piece ? piece.pieces.map(plain).join('') : piece.text;
	};
	return words.map(plain).join('').replace(/\s+/g, ' ').trim();
}

/** The ids of the users that the message names. */
export const namedIn = (words: Words): readonly string[] =>
	words.flatMap((piece) =>
		piece.kind === 'user' ? [piece.id] : 'pieces' in piece ? namedIn(piece.pieces) : [],
	);

/** Longer messages are folded. */
const LONG_CHARACTERS = 3_000;
const LONG_LINES = 30;

export function isLong(text: string): boolean {
	if (text.length > LONG_CHARACTERS) return true;
	let lines = 1;
	for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
	return lines > LONG_LINES;
}
