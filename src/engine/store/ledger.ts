import type { Conversation } from '../../model/conversation.ts';
import type { Message } from '../../model/message.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { Aspect } from '../ports/changes.ts';
import type { Fact, ReadFact } from '../ports/facts.ts';
import { deleteShares, writeShares } from './file-shares.ts';
import { deletePin, writePin } from './pins.ts';
import { deleteReactions, writeReaction } from './reactions.ts';
import { isInTimeline, isReadAhead } from './rows.ts';
import { flag, list } from './sql.ts';
import {
	type BoundWrite,
	deleteFrom,
	erasing,
	insertInto,
	statement,
	update,
	type Writes,
} from './write-sql.ts';

/**
 * Writes facts as rows. A post inserts one row, whatever the size of its conversation. It also updates the row
 * of its author's cursor, but only once per batch, however often the cursor moved.
 */

const CREATE = insertInto('conversations', {
	id: 1,
	team: 2,
	kind: 3,
	name: 4,
	creator: 5,
	created_ts: 6,
	archived: 7,
	topic: 8,
	purpose: 9,
	previous_names: 10,
	member_count: 11,
	people: 12,
	changed_ts: 13,
	stamp: 14,
});

const CHANGE = erasing(
	update(
		'conversations',
		{
			name: 2,
			archived: 3,
			topic: 4,
			purpose: 5,
			previous_names: 6,
			member_count: 7,
			changed_ts: 8,
			stamp: 9,
		},
		{ id: 1 },
	),
);

const COUNT_MEMBERS = update('conversations', { member_count: 2, stamp: 3 }, { id: 1 });
const STAMP = update('conversations', { stamp: 2 }, { id: 1 });
const NOTE_CHANGE = insertInto(
	'conversation_changes',
	{ conversation: 1, aspect: 2, changed_ts: 3, actor: 4 },
	{ on: ['conversation', 'aspect'], update: 'changed_ts = excluded.changed_ts, actor = excluded.actor' },
);

const CLAIM_NAME = insertInto(
	'channel_names',
	{ team: 1, name: 2, conversation: 3, reserved_at: 4 },
	{ on: ['team', 'name'], update: 'conversation = excluded.conversation' },
);
const FREE_NAME = deleteFrom('channel_names', { team: 1, name: 2, conversation: 3 });

/** A mark of this membership, or of a later one, arrived before the join; see 0003-early-marks.ts. */
const MARKED_EARLY = 'members.early_joined >= excluded.joined_ts';
const JOIN = statement(
	'members',
	`INSERT INTO members (user_id, conversation, member, joined_ts, cursor, revision, muted, level,
	changed_ts)
	SELECT DISTINCT item, CAST($1 AS TEXT), 1, CAST($2 AS BIGINT), CAST($3 AS BIGINT), 0, 0, 'all',
		CAST($2 AS BIGINT)
	FROM EACH_TEXT($4) AS joining WHERE item IS NOT NULL
	ON CONFLICT (user_id, conversation) DO UPDATE SET member = 1, joined_ts = excluded.joined_ts,
		cursor = CASE WHEN ${MARKED_EARLY} THEN members.cursor ELSE excluded.cursor END,
		revision = CASE WHEN ${MARKED_EARLY} THEN members.revision ELSE members.revision + 1 END,
		muted = CASE WHEN ${MARKED_EARLY} THEN members.muted ELSE 0 END,
		ahead = CASE WHEN ${MARKED_EARLY} THEN members.ahead ELSE '[]' END,
		level = CASE WHEN ${MARKED_EARLY} THEN members.level ELSE 'all' END,
		preferred_ts = CASE WHEN ${MARKED_EARLY} THEN members.preferred_ts ELSE 0 END,
		changed_ts = CASE WHEN ${MARKED_EARLY} THEN members.changed_ts ELSE excluded.changed_ts END
	WHERE members.joined_ts < excluded.joined_ts`,
);
const FORGET_AHEAD = statement(
	'read_ahead',
	`DELETE FROM read_ahead
	WHERE conversation = $1 AND user_id IN (SELECT item FROM EACH_TEXT($2) AS joining)`,
);
const LEAVE = update(
	'members',
	{
		member: '0',
		changed_ts: [3, (at) => `CASE WHEN changed_ts > ${at} THEN changed_ts ELSE ${at} END`],
		left_ts: 3,
	},
	{ user_id: 1, conversation: 2 },
);

const NOT_CHANGED = { edited_ts: 'NULL', changed_ts: 2, deleted: '0' };
const POST = insertInto('messages', {
	conversation: 1,
	ts: 2,
	user_id: 3,
	text: 4,
	client_msg_id: 5,
	thread_ts: 6,
	broadcast: 7,
	named: 8,
	channel_wide: 9,
	here: 10,
	extra: 11,
	...NOT_CHANGED,
});
/** Most messages: a root without mentions or extra. */
const POST_PLAIN = insertInto('messages', {
	conversation: 1,
	ts: 2,
	user_id: 3,
	text: 4,
	client_msg_id: 5,
	thread_ts: 'NULL',
	broadcast: '0',
	named: 'NULL',
	channel_wide: '0',
	here: '0',
	extra: 'NULL',
	...NOT_CHANGED,
});
const REWRITE = erasing(
	update(
		'messages',
		{
			text: 3,
			named: 4,
			channel_wide: 5,
			here: 6,
			edited_ts: 7,
			changed_ts: 8,
			deleted: 9,
			extra: 10,
		},
		{ conversation: 1, ts: 2 },
	),
);

const CURSOR_EARLY = 'thread_follows.early_since >= excluded.since';
const FOLLOW = insertInto(
	'thread_follows',
	{ conversation: 1, thread_ts: 2, user_id: 3, active: 4, cursor: 5, since: 6, changed_ts: 6 },
	{
		on: ['conversation', 'thread_ts', 'user_id'],
		update: `active = excluded.active, since = excluded.since,
		cursor = CASE WHEN ${CURSOR_EARLY} THEN thread_follows.cursor ELSE excluded.cursor END,
		changed_ts = CASE WHEN ${CURSOR_EARLY} THEN thread_follows.changed_ts ELSE excluded.changed_ts END
	WHERE thread_follows.since < excluded.since`,
	},
);
const THREAD_CURSOR = update(
	'thread_follows',
	{ cursor: 4, changed_ts: 5 },
	{ conversation: 1, thread_ts: 2, user_id: 3 },
);

const CURSOR = update('members', { cursor: 3, revision: 4, changed_ts: 5 }, { user_id: 1, conversation: 2 });

/**
 * Facts can arrive in any order. Among facts of one membership or follow, the newest wins; among facts of two memberships, those of the
 * later membership win. A mark may create the row, but only the fact of the join or follow makes the user a member or follower: a worker
 * that replays must not find the result of a command that it has yet to decide.
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

/** Moves the cursor by `isCaughtUp` of the model. Must run after the writes of the post and of all earlier messages. */
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

const AHEAD_UP_TO = deleteFrom('read_ahead', { user_id: 1, conversation: 2, ts: ['<=', 3] });
const AHEAD_FROM = deleteFrom('read_ahead', { user_id: 1, conversation: 2, ts: ['>=', 3] });
const AHEAD_ADD = insertInto('read_ahead', { user_id: 1, conversation: 2, ts: 3 }, 'ignore');

const PREFER = update('members', { muted: 3, level: 4, preferred_ts: 5 }, { user_id: 1, conversation: 2 });
const ACTIVITY = insertInto(
	'activity',
	{ user_id: 1, at: 2, active: 3 },
	{ on: ['user_id', 'at'], update: 'active = excluded.active' },
);

const ADVANCE = statement('progress', 'UPDATE progress SET newest_stamp = $1 WHERE newest_stamp < $1');

export const advanceTo = (stamp: number): BoundWrite => ({ write: ADVANCE, params: [stamp] });

export function writeFact(fact: Fact, into: Writes): void {
	switch (fact.type) {
		case 'posted':
			post(fact.message, into);
			break;
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
		case 'edited':
			rewrite(fact.message, into);
			break;
		case 'deleted':
			rewrite(fact.message, into);
			deleteReactions(fact.message.conversation, fact.message.ts, into);
			deletePin(fact.message.conversation, fact.message.ts, into);
			deleteShares(fact.previous, into);
			break;
		case 'pinned':
			writePin(fact, into);
			into.set(`stamp ${fact.conversation.id}`, STAMP, [fact.conversation.id, fact.at]);
			break;
		case 'reacted':
			writeReaction(fact, into);
			into.set(`stamp ${fact.conversation.id}`, STAMP, [fact.conversation.id, fact.at]);
			break;
		case 'created':
			create(fact.conversation, fact.at, into);
			into.add(JOIN, [fact.conversation.id, fact.at, 0, list(fact.members)]);
			break;
		case 'joined': {
			const users = list(fact.users);
			into.add(JOIN, [fact.conversation.id, fact.at, fact.cursor, users]);
			into.add(FORGET_AHEAD, [fact.conversation.id, users]);
			into.add(COUNT_MEMBERS, [fact.conversation.id, fact.conversation.memberCount, fact.at]);
			break;
		}
		case 'left':
			into.add(LEAVE, [fact.user, fact.conversation.id, fact.at]);
			into.add(COUNT_MEMBERS, [fact.conversation.id, fact.conversation.memberCount, fact.at]);
			break;
		case 'changed':
			change(fact, into);
			break;
		case 'followed':
			into.add(FOLLOW, [fact.conversation.id, fact.threadTs, fact.user, 1, fact.cursor, fact.at]);
			into.add(STAMP, [fact.conversation.id, fact.at]);
			break;
		case 'unfollowed':
			into.add(FOLLOW, [fact.conversation.id, fact.threadTs, fact.user, 0, 0, fact.at]);
			into.add(STAMP, [fact.conversation.id, fact.at]);
			break;
		case 'preference':
			prefer(fact, into);
			break;
		case 'activity':
			into.add(ACTIVITY, [fact.user, fact.at, flag(fact.active)]);
			break;
	}
}

function post(message: Message, into: Writes): void {
	const { conversation, ts, user, text, clientMsgId, threadTs, named, channelWide, here, extra } = message;
	const plain = threadTs === null && extra === null && named.length === 0 && !channelWide && !here;
	if (plain) {
		into.add(POST_PLAIN, [conversation, ts, user, text, clientMsgId]);
		return;
	}
	into.add(POST, [
		conversation,
		ts,
		user,
		text,
		clientMsgId,
		threadTs,
		flag(message.broadcast),
		namedOf(message),
		flag(channelWide),
		flag(here),
		extra,
	]);
	writeShares(message, into);
}

function rewrite(message: Message, into: Writes): void {
	into.add(REWRITE, [
		message.conversation,
		message.ts,
		message.text,
		namedOf(message),
		flag(message.channelWide),
		flag(message.here),
		message.editedTs,
		message.changedTs,
		flag(message.deleted),
		message.extra,
	]);
}

const namedOf = ({ named }: Message): string | null => (named.length === 0 ? null : list(named));

function create(conversation: Conversation, at: number, into: Writes): void {
	const { id, team, kind, name, creator, createdTs, memberCount, changedTs } = conversation;
	into.add(CREATE, [
		id,
		team,
		kind,
		name,
		creator,
		createdTs,
		flag(conversation.archived),
		JSON.stringify(conversation.topic),
		JSON.stringify(conversation.purpose),
		list(conversation.previousNames),
		memberCount,
		list(conversation.people),
		changedTs,
		at,
	]);
	if (name !== '') into.add(CLAIM_NAME, [team, name, id, at]);
}

function change(effect: Extract<Effect, { type: 'changed' }>, into: Writes): void {
	const { conversation, previous, at } = effect;
	const { id, team, name } = conversation;
	into.add(CHANGE, [
		id,
		name,
		flag(conversation.archived),
		JSON.stringify(conversation.topic),
		JSON.stringify(conversation.purpose),
		list(conversation.previousNames),
		conversation.memberCount,
		conversation.changedTs,
		at,
	]);
	const aspect: Aspect = effect.what === 'unarchive' ? 'archive' : effect.what;
	into.add(NOTE_CHANGE, [id, aspect, at, effect.actor]);
	if (name === previous.name) return;
	into.add(FREE_NAME, [team, previous.name, id]);
	into.add(CLAIM_NAME, [team, name, id, at]);
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
	if (dropUpTo !== undefined) into.add(AHEAD_UP_TO, [user, conversation, dropUpTo]);
	if (dropFrom !== undefined) into.add(AHEAD_FROM, [user, conversation, dropFrom]);
	// Entries at or before the cursor are no longer ahead of it.
	for (const ts of add) if (ts > cursor) into.add(AHEAD_ADD, [user, conversation, ts]);
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
