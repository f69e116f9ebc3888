import type { User } from '@tidemark/client';
import { nameOf } from '../session/names.ts';
import { type Piece, parseText } from './parse-text.ts';

/** A message in one line without markup: for lists and for reading aloud. */
export function plainText(text: string, users: ReadonlyMap<string, User>): string {
	const plain = (piece: Piece): string => {
		if (piece.kind === 'user') return `@${nameOf(users.get(piece.id)) || 'someone'}`;
		if (piece.kind === 'channel') return `#${piece.text || 'channel'}`;
		return 'pieces' in piece ? piece.pieces.map(plain).join('') : piece.text;
	};
	return parseText(text).map(plain).join('').replace(/\s+/g, ' ').trim();
}
