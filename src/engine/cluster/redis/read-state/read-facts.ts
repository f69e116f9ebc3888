import type { ReadFact } from '../../../ports/facts.ts';
import { type RedisFollow, type RedisMembership, unpackFollow, unpackMembership } from './packing.ts';

/**
 * Read state as facts: each has the whole state of its subject, as of its newest change. So the store can apply
 * them in any order and repeatedly, and a process that finds a change in Redis that may never have reached the log
 * can append it again.
 */

const membershipOf = ({ joined, cursor, revision, ahead }: RedisMembership) => ({
	joined,
	cursor,
	revision,
	ahead: [...ahead],
});

export function cursorFact(user: string, conversation: string, membership: RedisMembership): ReadFact {
	const { at, cursor, revision } = membership;
	return { type: 'cursor', user, conversation, at, cursor, revision, of: membershipOf(membership) };
}

export function preferenceFact(user: string, conversation: string, membership: RedisMembership): ReadFact {
	const { at, muted, level } = membership;
	return { type: 'preference', user, conversation, at, muted, level, of: membershipOf(membership) };
}

export function threadFact(
	user: string,
	conversation: string,
	threadTs: number,
	{ at, cursor, since }: RedisFollow,
): ReadFact {
	return { type: 'thread_cursor', user, conversation, threadTs, at, cursor, since };
}

/** The cursor in a field of the user's state. */
export function factOf(user: string, field: string, packed: string): ReadFact {
	const [kind, conversation = '', threadTs] = field.split(':');
	return kind === 'c'
		? cursorFact(user, conversation, unpackMembership(packed))
		: threadFact(user, conversation, Number(threadTs), unpackFollow(packed));
}
