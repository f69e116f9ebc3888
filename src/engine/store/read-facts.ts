import type { ReadFact } from '../ports/facts.ts';
import { isInTimeline, isReadAhead } from './rows.ts';
import { flag, list } from './sql.ts';
import { deleteFrom, insertInto, statement, update, type Writes } from './write-sql.ts';

/**
 * Writes changes of the read state as rows: cursors, preferences and activity. On one machine facts arrive in order, and a cursor is
 * written once per batch, however often it moved. In a cluster they arrive in any order, and are merged with the stored row.
 */

const THREAD_CURSOR = update(
	'thread_follows',
	{ cursor: 4, changed_ts: 5 },
	{ conversation: 1, thread_ts: 2, user_id: 3 },
);

const CURSOR = update('members', { cursor: 3, revision: 4, changed_ts: 5 }, { user_id: 1, conversation: 2 });

/**
 * In a cluster, facts can arrive in any order. Among facts of one membership or follow, the newest wins; among facts of two memberships,
 * those of the later membership win. A mark may create the row, but only the fact of the join or follow makes the user a member or
 * follower: a worker that replays must not find the result of a command that it has yet to decide.
 */
const MEMBERSHIP = `(CASE WHEN members.joined_ts > members.early_joined THEN members.joined_ts
	ELSE members.early_joined END)`;
const NEXT_MEMBERSHIP = `${MEMBERSHIP} < excluded.early_joined`;
/** A row that a mark creates before the join of its user has arrived. */
const EARLY_MEMBER = {
	user_id: 1,
	conversation: 2,
	member: '0',
	joined_ts: '0',
	early_joined: 3,
	cursor: 4,
	revision: 5,
} as const;
const MERGE_CURSOR = insertInto(
	'members',
	{
		...EARLY_MEMBER,
		muted: '0',
		level: "'all'",
		changed_ts: 6,
		ahead: 7,
	},
	{
		on: ['user_id', 'conversation'],
		update: `muted = CASE WHEN ${NEXT_MEMBERSHIP} THEN 0 ELSE members.muted END,
		level = CASE WHEN ${NEXT_MEMBERSHIP} THEN 'all' ELSE members.level END,
		preferred_ts = CASE WHEN ${NEXT_MEMBERSHIP} THEN 0 ELSE members.preferred_ts END,
		early_joined = excluded.early_joined, cursor = excluded.cursor, revision = excluded.revision,
		ahead = excluded.ahead, changed_ts = excluded.changed_ts
	WHERE ${NEXT_MEMBERSHIP}
		OR (${MEMBERSHIP} = excluded.early_joined AND members.changed_ts <= excluded.changed_ts)`,
	},
);
const MERGE_PREFERENCE = insertInto(
	'members',
	{
		...EARLY_MEMBER,
		muted: 6,
		level: 7,
		changed_ts: 3,
		preferred_ts: 8,
		ahead: 9,
	},
	{
		on: ['user_id', 'conversation'],
		update: `cursor = CASE WHEN ${NEXT_MEMBERSHIP} THEN excluded.cursor ELSE members.cursor END,
		revision = CASE WHEN ${NEXT_MEMBERSHIP} THEN excluded.revision ELSE members.revision END,
		ahead = CASE WHEN ${NEXT_MEMBERSHIP} THEN excluded.ahead ELSE members.ahead END,
		changed_ts = CASE WHEN ${NEXT_MEMBERSHIP} THEN excluded.changed_ts ELSE members.changed_ts END,
		early_joined = excluded.early_joined, muted = excluded.muted, level = excluded.level,
		preferred_ts = excluded.preferred_ts
	WHERE ${NEXT_MEMBERSHIP}
		OR (${MEMBERSHIP} = excluded.early_joined AND members.preferred_ts <= excluded.preferred_ts)`,
	},
);
const FOLLOWING = `(CASE WHEN thread_follows.since > thread_follows.early_since THEN thread_follows.since
	ELSE thread_follows.early_since END)`;
const MERGE_THREAD_CURSOR = insertInto(
	'thread_follows',
	{
		conversation: 1,
		thread_ts: 2,
		user_id: 3,
		active: '0',
		cursor: 4,
		since: '0',
		early_since: 5,
		changed_ts: 6,
	},
	{
		on: ['conversation', 'thread_ts', 'user_id'],
		update: `cursor = excluded.cursor, early_since = excluded.early_since, changed_ts = excluded.changed_ts
	WHERE ${FOLLOWING} < excluded.early_since
		OR (${FOLLOWING} = excluded.early_since AND thread_follows.changed_ts <= excluded.changed_ts)`,
	},
);

/** Moves the cursor by the rule `isCaughtUp` of the model. Must run after the writes of the post and of all earlier messages. */
const OWN_POST = statement(
	null,
	`UPDATE members SET cursor = $3
	WHERE user_id = $1 AND conversation = $2 AND member = 1 AND cursor < $3 AND changed_ts <= $3
		AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation = $2 AND m.ts > members.cursor AND m.ts < $3
			AND m.user_id <> $1 AND ${isInTimeline()} AND NOT ${isReadAhead('members', 'm.ts')})`,
);
const OWN_REPLY = statement(
	null,
	`UPDATE thread_follows SET cursor = $4
	WHERE conversation = $1 AND thread_ts = $2 AND user_id = $3 AND active = 1 AND cursor < $4 AND changed_ts <= $4
		AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation = $1 AND m.thread_ts = $2
			AND m.ts > thread_follows.cursor AND m.ts < $4 AND m.user_id <> $3 AND m.deleted = 0)`,
);

const DELETE_AHEAD_UP_TO = deleteFrom('read_ahead', { user_id: 1, conversation: 2, ts: ['<=', 3] });
const DELETE_AHEAD_FROM = deleteFrom('read_ahead', { user_id: 1, conversation: 2, ts: ['>=', 3] });
const ADD_AHEAD = insertInto('read_ahead', { user_id: 1, conversation: 2, ts: 3 }, 'ignore');

const PREFER = update('members', { muted: 3, level: 4, preferred_ts: 5 }, { user_id: 1, conversation: 2 });
const ACTIVITY = insertInto(
	'activity',
	{ user_id: 1, at: 2, active: 3 },
	{ on: ['user_id', 'at'], update: 'active = excluded.active' },
);

export function writeReadFact(fact: ReadFact, into: Writes): void {
	switch (fact.type) {
		case 'cursor':
			moveCursor(fact, into);
			break;
		case 'thread_cursor': {
			const { user, conversation, threadTs, cursor, at, since } = fact;
			const key = `${user} ${conversation} ${threadTs}`;
			if (since === undefined) into.set(key, THREAD_CURSOR, [conversation, threadTs, user, cursor, at]);
			else into.add(MERGE_THREAD_CURSOR, [conversation, threadTs, user, cursor, since, at]);
			break;
		}
		case 'own_post': {
			const { user, conversation, threadTs, at } = fact;
			if (fact.inTimeline) into.add(OWN_POST, [user, conversation, at]);
			if (threadTs !== null) into.add(OWN_REPLY, [conversation, threadTs, user, at]);
			break;
		}
		case 'preference':
			prefer(fact, into);
			break;
		case 'activity':
			into.add(ACTIVITY, [fact.user, fact.at, flag(fact.active)]);
			break;
	}
}

function moveCursor(fact: Extract<ReadFact, { type: 'cursor' }>, into: Writes): void {
	const { user, conversation, at, cursor, revision, ahead, of } = fact;
	if (of) {
		into.add(MERGE_CURSOR, [user, conversation, of.joined, cursor, revision, at, list(of.ahead)]);
		return;
	}
	into.set(`${user} ${conversation}`, CURSOR, [user, conversation, cursor, revision, at]);
	if (ahead === undefined) return;
	const { dropUpTo, dropFrom, add = [] } = ahead;
	if (dropUpTo !== undefined) into.add(DELETE_AHEAD_UP_TO, [user, conversation, dropUpTo]);
	if (dropFrom !== undefined) into.add(DELETE_AHEAD_FROM, [user, conversation, dropFrom]);
	// Entries at or before the cursor are no longer ahead of it.
	for (const ts of add) if (ts > cursor) into.add(ADD_AHEAD, [user, conversation, ts]);
}

function prefer(fact: Extract<ReadFact, { type: 'preference' }>, into: Writes): void {
	const { user, conversation, at, muted, level, of } = fact;
	if (!of) {
		into.add(PREFER, [user, conversation, flag(muted), level, at]);
		return;
	}
	const { joined, cursor, revision } = of;
	const row = [user, conversation, joined, cursor, revision, flag(muted), level, at, list(of.ahead)];
	into.add(MERGE_PREFERENCE, row);
}
