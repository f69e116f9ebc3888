import { expect, test } from 'bun:test';
import {
	inOrder,
	parseReactionName,
	type Reaction,
	USERS_SHOWN,
	withoutUser,
	withUser,
} from '../../src/model/reactions.ts';

/** Reactions to a message: names, and one summary for each emoji. */

test.each([
	['thumbsup', 'thumbsup'],
	[':thumbsup:', 'thumbsup'],
	['+1::skin-tone-3', '+1::skin-tone-3'],
	[':+1::skin-tone-6:', '+1::skin-tone-6'],
	['été', 'été'],
] as const)('%s is the name of an emoji', (text, name) => expect(parseReactionName(text)).toBe(name));

test.each([
	'',
	'::',
	':',
	'Thumbsup',
	'two words',
	'+1::skin-tone-7',
	'+1::skin-tone-1',
	'a:b',
	'x'.repeat(101),
])('%p is not the name of an emoji', (text) => expect(parseReactionName(text)).toBeUndefined());

const users = Array.from({ length: USERS_SHOWN + 3 }, (_, index) => `U${index}`);
const all = users.reduce<Reaction | undefined>(
	(known, user, index) => withUser(known, 'wave', user, 100 + index),
	undefined,
);

test('all users are counted, the first ones are listed, and the first one sets the time', () => {
	expect(all).toEqual({
		name: 'wave',
		count: users.length,
		users: users.slice(0, USERS_SHOWN),
		firstTs: 100,
	});
});

test('a user who removes a reaction is no longer counted or listed; without users, the reaction is gone', () => {
	const shown = withoutUser(all as Reaction, 'U0');
	expect([shown?.count, shown?.users.includes('U0')]).toEqual([users.length - 1, false]);
	const hidden = withoutUser(all as Reaction, users.at(-1) as string);
	expect([hidden?.count, hidden?.users]).toEqual([users.length - 1, users.slice(0, USERS_SHOWN)]);
	expect(withoutUser({ name: 'wave', count: 1, users: ['U0'], firstTs: 1 }, 'U0')).toBeNull();
});

test('emoji are in the order of their first use, then by name', () => {
	const one = (name: string, firstTs: number): Reaction => ({ name, count: 1, users: [], firstTs });
	const shown = inOrder([one('b', 2), one('c', 1), one('a', 2)]);
	expect(shown.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
});
