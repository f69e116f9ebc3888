import type {
	Aspect,
	AspectChange,
	Changes,
	InsideChanges,
	InsideQuery,
	OwnFollow,
	OwnMembership,
	PinChange,
	PostedMessage,
	ReactionChange,
} from '../ports/changes.ts';
import { EVENTS_AFTER, IS_CHANGED_SINCE, inside } from './changes-since.ts';
import { PIN_CHANGES, type PinChangeColumns, pinChangeOf } from './pins.ts';
import { REACTION_CHANGES, type ReactionChangeColumns, reactionChangeOf } from './reactions.ts';
import { belongsToTimeline, MESSAGE_BYTES, MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts';
import { list, type SqlReader } from './sql.ts';

/**
 * Changes since a stamp. Messages are found by index, in the conversations that have changed;
 * all of the user's own rows are read, because they lie together.
 */

const MEMBERSHIPS = `SELECT conversation, member, joined_ts, changed_ts, preferred_ts FROM members
	WHERE user_id = $1 AND (changed_ts > $2 OR preferred_ts > $2)`;
const FOLLOWS = `SELECT conversation, thread_ts, active, since, changed_ts FROM thread_follows
	WHERE user_id = $1 AND changed_ts > $2`;

const IS_POSTED = `m.ts > ${EVENTS_AFTER} AND m.ts <= $4 AND m.deleted = 0`;
/** Including messages deleted later: a client that processes changes in order still has them. */
const PREVIOUS = `COALESCE((SELECT p.ts FROM messages p
	WHERE p.conversation = m.conversation AND p.ts < m.ts AND ${belongsToTimeline('p')}
		AND (p.deleted = 0 OR (p.ts <= ${EVENTS_AFTER} AND p.changed_ts > m.ts))
	ORDER BY p.ts DESC LIMIT 1), 0)`;
const POSTED = inside(`${MESSAGE_COLUMNS}, ${PREVIOUS} AS prev_ts`, 'messages', IS_POSTED);

/** Repeats the condition of the index: `changed_ts > ts`. */
const IS_CHANGED = `${IS_CHANGED_SINCE} AND m.changed_ts > m.ts`;
/** Includes deletions of new messages: the client may have one from a page, or from an earlier attempt to resume. */
const IS_OLDER_OR_DELETED = `${IS_CHANGED} AND (m.ts <= ${EVENTS_AFTER} OR m.deleted = 1)`;

const sizeOf = (condition: string): string => `SELECT count(*) AS messages,
	COALESCE(sum(found.bytes), 0) AS bytes
	FROM (${inside(`${MESSAGE_BYTES} AS bytes`, 'messages', condition)}) AS found`;
const SIZE_OF_POSTED = sizeOf(IS_POSTED);

const SIZE_OF_CHANGED = sizeOf(IS_OLDER_OR_DELETED);
const CHANGED = inside(MESSAGE_COLUMNS, 'messages', IS_OLDER_OR_DELETED);

const ASPECTS = inside(
	'm.conversation, m.aspect, m.changed_ts, m.actor',
	'conversation_changes',
	IS_CHANGED_SINCE,
);

const MEMBER_CHANGES = `SELECT user_id, joined_ts AS at, 1 AS joined FROM members
	WHERE conversation = $1 AND member = 1 AND joined_ts > $2 AND joined_ts <= $3
	UNION ALL SELECT user_id, left_ts AS at, 0 AS joined FROM members
	WHERE conversation = $1 AND left_ts > 0 AND member = 0 AND left_ts > $2 AND left_ts <= $3
	ORDER BY at, user_id LIMIT $4`;

interface MembershipColumns {
	readonly conversation: string;
	readonly member: number;
	readonly joined_ts: number;
	readonly changed_ts: number;
	readonly preferred_ts: number;
}

interface FollowColumns {
	readonly conversation: string;
	readonly thread_ts: number;
	readonly active: number;
	readonly since: number;
	readonly changed_ts: number;
}

interface AspectColumns {
	readonly conversation: string;
	readonly aspect: Aspect;
	readonly changed_ts: number;
	readonly actor: string;
}

type PostedRow = MessageRow & { readonly prev_ts: number };

const membershipOf = (row: MembershipColumns): OwnMembership => ({
	conversation: row.conversation,
	member: row.member === 1,
	joinedTs: row.joined_ts,
	changedTs: row.changed_ts,
	preferredTs: row.preferred_ts,
});

const followOf = (row: FollowColumns): OwnFollow => ({
	conversation: row.conversation,
	threadTs: row.thread_ts,
	active: row.active === 1,
	since: row.since,
	changedTs: row.changed_ts,
});

const aspectOf = (row: AspectColumns): AspectChange => ({
	conversation: row.conversation,
	aspect: row.aspect,
	at: row.changed_ts,
	actor: row.actor,
});

const postedOf = (row: PostedRow): PostedMessage => ({ message: messageOf(row), prevTs: row.prev_ts });

const CONVERSATIONS_PER_QUERY = 1000;

export function changesOn(reader: SqlReader): Changes {
	return {
		async own(user, since) {
			const memberships = await reader.all<MembershipColumns>(MEMBERSHIPS, [user, since]);
			const follows = await reader.all<FollowColumns>(FOLLOWS, [user, since]);
			return { memberships: memberships.map(membershipOf), follows: follows.map(followOf) };
		},
		inside: (query) => changesInside(reader, query),
		async memberChanges(conversation, since, upTo, limit) {
			const params = [conversation, since, upTo, limit];
			const rows = await reader.all<{ user_id: string; at: number; joined: number }>(MEMBER_CHANGES, params);
			return rows.map(({ user_id, at, joined }) => ({ user: user_id, at, joined: joined === 1 }));
		},
	};
}

async function changesInside(reader: SqlReader, query: InsideQuery): Promise<InsideChanges | null> {
	const { user, since, upTo, conversations, most } = query;
	const posted: PostedMessage[] = [];
	const changed: InsideChanges['changed'][number][] = [];
	const aspects: AspectChange[] = [];
	const reactions: ReactionChange[] = [];
	const pins: PinChange[] = [];
	let { changes, bytes } = most;
	for (let start = 0; start < conversations.length; start += CONVERSATIONS_PER_QUERY) {
		if (start > 0) await reader.pause();
		const where = list(conversations.slice(start, start + CONVERSATIONS_PER_QUERY));
		// One more than the limit, to detect that it is exceeded.
		const params = [user, where, since, upTo, changes + 1];
		// Sizes first, so that too large a result is never held in memory.
		for (const sql of [SIZE_OF_POSTED, SIZE_OF_CHANGED]) {
			const [size] = await reader.all<{ messages: number; bytes: number }>(sql, params);
			changes -= size?.messages ?? 0;
			bytes -= size?.bytes ?? 0;
		}
		if (changes < 0 || bytes < 0) return null;
		for (const row of await reader.all<PostedRow>(POSTED, params)) posted.push(postedOf(row));
		for (const row of await reader.all<MessageRow>(CHANGED, params)) changed.push(messageOf(row));
		for (const row of await reader.all<AspectColumns>(ASPECTS, params)) aspects.push(aspectOf(row));
		for (const row of await reader.all<ReactionChangeColumns>(REACTION_CHANGES, params))
			reactions.push(reactionChangeOf(row));
		for (const row of await reader.all<PinChangeColumns>(PIN_CHANGES, params)) pins.push(pinChangeOf(row));
	}
	const others = aspects.length + reactions.length + pins.length;
	return changes < others ? null : { posted, changed, aspects, reactions, pins };
}
