/**
 * Compares everything the server shows with everything the oracle computes, for all users and conversations. Reports the
 * first difference by field. Queries that the driver lacks are not compared, and the tally shows that.
 */

import type { Driver, Queries } from './driver.ts';
import type { Oracle } from './oracle.ts';
import type { World } from './scene.ts';
import type { BadgeItem, Follow, Row } from './types.ts';

export interface Difference {
	/** The path of the difference, such as `rows(U1).C7.unread_count`. */
	path: string;
	oracle: unknown;
	server: unknown;
}

/** How many answers of each query were compared. */
export type Tally = Record<keyof Queries, number>;

export function emptyTally(): Tally {
	return {
		rows: 0,
		unreads: 0,
		threads: 0,
		follows: 0,
		badge: 0,
		explain: 0,
		members: 0,
		timeline: 0,
		readers: 0,
	};
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

/** Depth first, so that the path names the one field that differs, and not the whole answer. */
export function firstDifference(oracle: unknown, server: unknown, path: string): Difference | undefined {
	if (!isRecord(oracle) || !isRecord(server) || Array.isArray(oracle) !== Array.isArray(server)) {
		return Object.is(oracle, server) ? undefined : { path, oracle, server };
	}
	for (const key of new Set([...Object.keys(oracle), ...Object.keys(server)])) {
		const deeper = Array.isArray(oracle) ? `${path}[${key}]` : `${path}.${key}`;
		const found = firstDifference(oracle[key], server[key], deeper);
		if (found !== undefined) {
			return found;
		}
	}
	return undefined;
}

/** The order of a list is not part of the model; its content is. */
function keyed<T>(list: readonly T[], key: (each: T) => string): Record<string, T> {
	const result: Record<string, T> = {};
	for (const each of list) {
		const name = key(each);
		// An item that is listed twice must not be merged.
		result[name in result ? `${name} listed again` : name] = each;
	}
	return result;
}

function itemsByMessage(items: readonly BadgeItem[]): Record<string, BadgeItem> {
	const sorted = items.map((item) => ({ ...item, reasons: [...item.reasons].sort() }));
	return keyed(sorted, (item) => `${item.channel}/${item.ts}`);
}

/** In the model, the author of a root follows it even without replies; a server need not list such a thread. */
function withReplies<T extends Follow>(oracle: Oracle, follows: readonly T[]): Record<string, T> {
	const listed = follows.filter((each) => oracle.replies(each.channel, each.thread_ts).length > 0);
	return keyed(listed, (each) => `${each.channel}/${each.thread_ts}`);
}

function pickFields(rows: Record<string, Partial<Row>>, fields: readonly (keyof Row)[] | undefined) {
	if (fields === undefined) {
		return rows;
	}
	return Object.fromEntries(
		Object.entries(rows).map(([id, row]) => [
			id,
			Object.fromEntries(fields.map((field) => [field, row[field]])),
		]),
	);
}

type Check = { query: keyof Queries; difference: Difference | undefined };

async function* checksOfUser(driver: Driver, oracle: Oracle, user: string): AsyncGenerator<Check> {
	const check = (query: keyof Queries, expected: unknown, actual: unknown): Check => ({
		query,
		difference: firstDifference(expected, actual, `${query}(${user})`),
	});
	if (driver.rows) {
		const { rowFields } = driver;
		yield check(
			'rows',
			pickFields(oracle.rows(user), rowFields),
			pickFields(await driver.rows(user), rowFields),
		);
	}
	if (driver.threads) {
		const expected = oracle.threads(user);
		const actual = await driver.threads(user);
		yield check(
			'threads',
			{ threads: withReplies(oracle, expected.threads), totals: expected.totals },
			{ threads: withReplies(oracle, actual.threads), totals: actual.totals },
		);
	}
	if (driver.follows) {
		const actual = await driver.follows(user);
		yield check('follows', withReplies(oracle, oracle.follows(user)), withReplies(oracle, actual));
	}
	if (driver.badge) {
		yield check('badge', oracle.badge(user), await driver.badge(user));
	}
	if (driver.explain) {
		const actual = await driver.explain(user);
		yield check('explain', itemsByMessage(oracle.explain(user)), itemsByMessage(actual));
	}
}

async function* checksOfConversation(driver: Driver, oracle: Oracle, c: string): AsyncGenerator<Check> {
	const members = oracle.members(c);
	const as = members[0];
	if (as === undefined || oracle.conversation(c).archived) {
		return;
	}
	const check = (query: keyof Queries, about: string, expected: unknown, actual: unknown): Check => ({
		query,
		difference: firstDifference(expected, actual, `${query}(${about})`),
	});
	if (driver.members) {
		yield check('members', c, members, [...(await driver.members(c, as))].sort());
	}
	const timeline = oracle.timeline(c);
	if (driver.timeline) {
		const actual = await driver.timeline(c, as);
		yield check(
			'timeline',
			c,
			timeline,
			[...actual].sort((a, b) => a - b),
		);
	}
	if (driver.unreads) {
		for (const user of members) {
			const actual = await driver.unreads(user, c);
			yield check(
				'unreads',
				`${user}, ${c}`,
				oracle.unreads(user, c),
				[...actual].sort((a, b) => a - b),
			);
		}
	}
	if (driver.readers) {
		// Only the newest few: older messages are read by everybody, and each costs a call.
		for (const ts of timeline.slice(-3)) {
			const actual = await driver.readers(c, ts, as);
			yield check('readers', `${c}, ${ts}`, oracle.readers(c, ts), [...actual].sort());
		}
	}
}

/** Adds to the tally, and returns the first difference if there is one. */
export async function compareAll(
	driver: Driver,
	oracle: Oracle,
	world: World,
	tally: Tally,
): Promise<Difference | undefined> {
	await driver.settle?.();
	const all = [
		...world.users.map((user) => checksOfUser(driver, oracle, user)),
		...world.conversations
			.filter((id) => id !== undefined)
			.map((id) => checksOfConversation(driver, oracle, id)),
	];
	for (const checks of all) {
		for await (const { query, difference } of checks) {
			tally[query] += 1;
			if (difference !== undefined) {
				return difference;
			}
		}
	}
	return undefined;
}
