import type { User } from '@tidemark/client';
import { canBeNamed } from '../session/names.ts';

/** Whom one may mean by what stands before the caret. */

export interface Candidate {
	/** What is written for it. */
	readonly handle: string;
	readonly label: string;
	readonly id: string;
}

const WRITTEN = /(?:^|[\s(])@([\w.-]*)$/;
const MOST = 8;
const GROUPS: readonly Candidate[] = [
	{ handle: 'channel', label: 'Everybody in the conversation', id: '' },
	{ handle: 'here', label: 'Everybody who is active now', id: '' },
];

/** What was written after the @ before the caret; null where no name is being written. */
export const writtenName = (text: string, caret: number): string | null =>
	WRITTEN.exec(text.slice(0, caret))?.[1] ?? null;

export function candidatesFor(written: string, users: Iterable<User>): readonly Candidate[] {
	const wanted = written.toLowerCase();
	const rank = (user: User): number => {
		if (user.name.toLowerCase().startsWith(wanted)) return 0;
		return user.realName
			.toLowerCase()
			.split(/\s+/)
			.some((word) => word.startsWith(wanted))
			? 1
			: 2;
	};
	const people = [...users]
		.filter((user) => canBeNamed(user) && rank(user) < 2)
		.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
		.map((user) => ({ handle: user.name, label: user.realName || user.name, id: user.id }));
	const groups = GROUPS.filter(({ handle }) => handle.startsWith(wanted));
	return [...people, ...groups].slice(0, MOST);
}

/** The text with the name completed, and where the caret goes. */
export function complete(text: string, caret: number, handle: string): { text: string; caret: number } {
	const written = writtenName(text, caret) ?? '';
	const before = `${text.slice(0, caret - written.length)}${handle} `;
	return { text: before + text.slice(caret).replace(/^ /, ''), caret: before.length };
}
