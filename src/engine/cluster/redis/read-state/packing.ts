import type { ActivityChange } from '../../../../model/activity.ts';
import type { ConversationKind } from '../../../../model/ids.ts';
import { flagsOf, unpackFlags } from '../../../../model/timeline.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { CommandChanges, ConversationChange, EntryChange } from '../../../read-state/changes.ts';
import { membershipFlags, unpackMembershipFlags } from '../../../read-state/memberships.ts';
import type { StampedFollow, StampedMembership } from '../../../read-state/user-steps.ts';

/**
 * The format of state in Redis: short strings that Lua and people can read. A user's state is fields of one hash: one for each membership
 * and each followed thread, the user's activity, and the stamp of the newest change.
 */

export type Fields = Readonly<Record<string, string>>;

/**
 * Means that Redis has no change of a user or conversation, so the store has everything. Used as the version of the user, and as version
 * and base of the conversation.
 */
export const STORED = '-';

export const STAMP = 'stamp';
export const ACTIVITY = 'activity';
/** The value of a thread's field when the user no longer follows the thread. */
export const ENDED = '-';
export const membershipField = (conversation: string): string => `c:${conversation}`;
export const followField = (conversation: string, threadTs: number): string =>
	`f:${conversation}:${threadTs}`;

/** The subject of a field: a membership, or (with a ts) a followed thread; null for another field. */
export function subjectOf(field: string): { conversation: string; threadTs: number | null } | null {
	const [kind, conversation = '', threadTs] = field.split(':');
	if (kind !== 'c' && kind !== 'f') return null;
	return { conversation, threadTs: threadTs === undefined ? null : Number(threadTs) };
}

/** `isJoinAwaited`, in addition to the flags of memberships.ts. */
const AWAITED = 16;

/**
 * `at:flags:cursor:joined:revision:ahead,ahead…` without empty parts at the end. There is one for each user and conversation, so it
 * is short: numbers in base 36, and times except the first as differences from it.
 */
export function packMembership(membership: StampedMembership): string {
	const { cursor, revision, joined, at, ahead, isJoinAwaited } = membership;
	const flags = membershipFlags(membership) + (isJoinAwaited ? AWAITED : 0);
	const parts = [at, flags, at - cursor, at - joined, revision].map((number) => number.toString(36));
	const before = [...ahead].map((ts) => (at - ts).toString(36)).join();
	if (before !== '') return `${parts.join(':')}:${before}`;
	return (revision === 0 ? parts.slice(0, -1) : parts).join(':');
}

export function unpackMembership(packed: string): StampedMembership {
	const parts = packed.split(':');
	const number = (index: number) => Number.parseInt(parts[index] ?? '0', 36);
	const [at, flags, revision] = [number(0), number(1), number(4)];
	const [cursor, joined] = [at - number(2), at - number(3)];
	const ahead = parts[5] ? parts[5].split(',').map((before) => at - Number.parseInt(before, 36)) : [];
	return {
		...unpackMembershipFlags(flags),
		cursor,
		revision,
		joined,
		at,
		ahead: new Set(ahead),
		...(flags & AWAITED ? { isJoinAwaited: true } : {}),
	};
}

export const packFollow = (follow: StampedFollow | null): string =>
	follow ? `${follow.cursor}:${follow.since}:${follow.at}` : ENDED;

export function unpackFollow(packed: string): StampedFollow | null {
	if (packed === ENDED) return null;
	const [cursor = 0, since = 0, at = 0] = packed.split(':').map(Number);
	return { cursor, since, at };
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

/** The parts of each change are separated by semicolons, and changes by blanks. */
export const packChanges = (changes: readonly ConversationChange[]): string =>
	changes.map((change) => partsOf(change).join(';')).join(' ');

function partsOf(change: ConversationChange): (string | number)[] {
	if (!('row' in change)) return [change.type, change.kind, change.isArchived ? 1 : 0];
	const { type, row, isInTimeline, root, isFirstReply } = change;
	const parts = [type, row.ts, row.user, flagsOf(row), row.named.join(), isInTimeline ? 1 : 0, root];
	return isFirstReply ? [...parts, 1] : parts;
}

/** `stamp change change…` */
export function unpackCommand(packed: string): CommandChanges {
	const [stamp, ...changes] = packed.split(' ');
	return { stamp: Number(stamp), changes: changes.map(unpackChange) };
}

function unpackChange(packed: string): ConversationChange {
	const [type, first = '', second = '', flags, named = '', isInTimeline, root, isFirstReply] =
		packed.split(';');
	if (type === 'create' || type === 'settings')
		return { type, kind: first as ConversationKind, isArchived: second === '1' };
	return {
		type: type as EntryChange['type'],
		row: {
			ts: Number(first),
			user: second,
			...unpackFlags(Number(flags)),
			named: named === '' ? [] : named.split(','),
		},
		isInTimeline: isInTimeline === '1',
		root: Number(root),
		isFirstReply: isFirstReply === '1',
	};
}

/**
 * Facts with the whole state of their subject, as of its newest change. So the store can apply them in any order and repeatedly, and a
 * process that finds a change in Redis that may never have reached the log can append it again.
 */
export function membershipFact(
	type: 'cursor' | 'preference',
	user: string,
	conversation: string,
	{ at, cursor, revision, muted, level, joined, ahead }: StampedMembership,
): ReadFact {
	const of = { joined, cursor, revision, ahead: [...ahead] };
	const base = { user, conversation, at, of };
	return type === 'cursor' ? { ...base, type, cursor, revision } : { ...base, type, muted, level };
}

export const threadFact = (
	user: string,
	conversation: string,
	threadTs: number,
	{ at, cursor, since }: StampedFollow,
): ReadFact => ({ type: 'thread_cursor', user, conversation, threadTs, at, cursor, since });

/** Fields and values of a hash, as scripts return them. */
export const pairs = (values: readonly string[]): [string, string][] =>
	Array.from({ length: values.length / 2 }, (_, index) => [
		values[2 * index] as string,
		values[2 * index + 1] as string,
	]);
