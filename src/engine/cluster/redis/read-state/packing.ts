import { type Entry, flagsOf } from '../../../../model/timeline.ts';
import type { NotificationLevel } from '../../../ports/facts.ts';
import type { EntryRow } from '../../../ports/store.ts';

/** The format of state in Redis: short strings that Lua and people can read. */

const LEVELS: readonly NotificationLevel[] = ['all', 'mentions', 'none'];
const MEMBER = 1;
const MUTED = 2;
const LEVEL_STEP = 4;
const AWAITED = 16;

/** A user's state in one conversation. */
export interface RedisMembership {
	readonly member: boolean;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	readonly cursor: number;
	readonly revision: number;
	/** Stamp of the newest join: older changes have no effect. */
	readonly joined: number;
	/** Stamp of its newest change. */
	readonly at: number;
	readonly ahead: ReadonlySet<number>;
	/** The store had marks of this membership, but not its join. The user becomes a member when that join is applied. */
	readonly isAwaited?: boolean;
}

/**
 * `at:flags:cursor:joined:revision:ahead,ahead…` without empty parts at the end. There is one for each user and conversation, so it
 * is short: numbers in base 36, and times except the first as differences from it.
 */
export function packMembership(membership: RedisMembership): string {
	const { member, muted, level, cursor, revision, joined, at, ahead, isAwaited } = membership;
	const flags =
		(member ? MEMBER : 0) +
		(muted ? MUTED : 0) +
		LEVELS.indexOf(level) * LEVEL_STEP +
		(isAwaited ? AWAITED : 0);
	const parts = [at, flags, at - cursor, at - joined, revision].map((number) => number.toString(36));
	const before = [...ahead].map((ts) => (at - ts).toString(36)).join();
	if (before !== '') return `${parts.join(':')}:${before}`;
	return (revision === 0 ? parts.slice(0, -1) : parts).join(':');
}

export function unpackMembership(packed: string): RedisMembership {
	const parts = packed.split(':');
	const number = (index: number) => Number.parseInt(parts[index] ?? '0', 36);
	const [at, flags, revision] = [number(0), number(1), number(4)];
	const [cursor, joined] = [at - number(2), at - number(3)];
	const ahead = parts[5] ? parts[5].split(',').map((before) => at - Number.parseInt(before, 36)) : [];
	return {
		member: (flags & MEMBER) !== 0,
		muted: (flags & MUTED) !== 0,
		level: LEVELS[Math.floor((flags % AWAITED) / LEVEL_STEP)] ?? 'all',
		cursor,
		revision,
		joined,
		at,
		ahead: new Set(ahead),
		...(flags & AWAITED ? { isAwaited: true } : {}),
	};
}

/** A thread that a user follows. */
export interface RedisFollow {
	readonly cursor: number;
	readonly since: number;
	/** Stamp of its newest change. */
	readonly at: number;
}

export const packFollow = ({ cursor, since, at }: RedisFollow): string => `${cursor}:${since}:${at}`;

export function unpackFollow(packed: string): RedisFollow {
	const [cursor = 0, since = 0, at = 0] = packed.split(':').map(Number);
	return { cursor, since, at };
}

export interface ActivityChange {
	readonly at: number;
	readonly active: boolean;
}

/** `at:1,at:0,…`, ascending. */
export const packActivity = (changes: readonly ActivityChange[]): string =>
	changes.map(({ at, active }) => `${at}:${active ? 1 : 0}`).join();

export const unpackActivity = (packed: string): ActivityChange[] =>
	packed === ''
		? []
		: packed.split(',').map((change) => {
				const [at = 0, active = 0] = change.split(':').map(Number);
				return { at, active: active === 1 };
			});

/** `ts|author|flags|named,named…` */
export const packEntry = (row: EntryRow): string =>
	`${row.ts}|${row.user}|${flagsOf(row)}|${row.named.join()}`;

/** `numberOf` numbers users. */
export function unpackEntry(packed: string, numberOf: (user: string) => number): Entry {
	const [ts = '0', author = '', flags = '0', named = ''] = packed.split('|');
	return {
		ts: Number(ts),
		author: numberOf(author),
		flags: Number(flags),
		named: named === '' ? [] : named.split(',').map(numberOf),
	};
}
