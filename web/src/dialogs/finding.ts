import type { User } from '@tidemark/client';
import { canBeNamed } from '../session/names.ts';

/**
 * Finds items by a few letters of their name. Names that start with the letters come first, then names with a word that starts with
 * them, then names that contain them.
 */

const rankOf = (text: string, letters: string): number => {
	const lower = text.toLowerCase();
	if (lower.startsWith(letters)) return 0;
	if (lower.split(/[\s._@-]+/).some((word) => word.startsWith(letters))) return 1;
	return lower.includes(letters) ? 2 : 3;
};

export const lettersOf = (written: string): string => written.trim().toLowerCase().replace(/^[#@]/, '');

/** Equally good matches keep their order. */
export function findByName<T>(all: Iterable<T>, textOf: (one: T) => string, written: string): readonly T[] {
	const letters = lettersOf(written);
	return [...all]
		.map((one) => ({ one, rank: rankOf(textOf(one), letters) }))
		.filter(({ rank }) => rank < 3)
		.toSorted((a, b) => a.rank - b.rank)
		.map(({ one }) => one);
}

/** Finds people by short or full name. Leaves out deactivated and excluded people. */
export function findPeople(
	users: ReadonlyMap<string, User>,
	excluded: ReadonlySet<string>,
	written: string,
): readonly User[] {
	const people = [...users.values()]
		.filter((user) => canBeNamed(user) && !excluded.has(user.id))
		.toSorted((a, b) => (a.realName || a.name).localeCompare(b.realName || b.name));
	return findByName(people, ({ name, realName }) => `${realName} @${name}`, written);
}
