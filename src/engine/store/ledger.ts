import type { Conversation } from '../../model/conversation.ts';
import type { Message } from '../../model/message.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { Aspect } from '../ports/changes.ts';
import type { Fact } from '../ports/facts.ts';
import { deleteShares, writeShares } from './files.ts';
import { deletePin, writePin } from './pins.ts';
import { deleteReactions, writeReaction } from './reactions.ts';
import { writeReadFact } from './read-facts.ts';
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
 * Writes facts as rows: the effects of the sequencer here, changes of the read state in read-facts.ts. A post
 * inserts one row, and one for each of its files, whatever the size of its conversation.
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

const SET_MEMBER_COUNT = update('conversations', { member_count: 2, stamp: 3 }, { id: 1 });
const STAMP = update('conversations', { stamp: 2 }, { id: 1 });
const RECORD_CHANGE = insertInto(
	'conversation_changes',
	{ conversation: 1, aspect: 2, changed_ts: 3, actor: 4 },
	{ on: ['conversation', 'aspect'], update: 'changed_ts = excluded.changed_ts, actor = excluded.actor' },
);

const CLAIM_NAME = insertInto(
	'channel_names',
	{ team: 1, name: 2, conversation: 3, reserved_at: 4 },
	{ on: ['team', 'name'], update: 'conversation = excluded.conversation' },
);
const RELEASE_NAME = deleteFrom('channel_names', { team: 1, name: 2, conversation: 3 });

/** A mark of this membership, or of a later one, arrived before the fact of the join; see migrations/0003-early-marks.ts. */
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
const CLEAR_AHEAD = statement(
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

/** As `MARKED_EARLY`, for a thread: its cursor arrived before the fact of the follow. */
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

const ADVANCE = statement('progress', 'UPDATE progress SET newest_stamp = $1 WHERE newest_stamp < $1');

export const advanceTo = (stamp: number): BoundWrite => ({ write: ADVANCE, params: [stamp] });

export function writeFact(fact: Fact, into: Writes): void {
	switch (fact.type) {
		case 'posted':
			post(fact.message, into);
			break;
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
			into.add(CLEAR_AHEAD, [fact.conversation.id, users]);
			into.add(SET_MEMBER_COUNT, [fact.conversation.id, fact.conversation.memberCount, fact.at]);
			break;
		}
		case 'left':
			into.add(LEAVE, [fact.user, fact.conversation.id, fact.at]);
			into.add(SET_MEMBER_COUNT, [fact.conversation.id, fact.conversation.memberCount, fact.at]);
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
		default:
			writeReadFact(fact, into);
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
	into.add(RECORD_CHANGE, [id, aspect, at, effect.actor]);
	if (name === previous.name) return;
	into.add(RELEASE_NAME, [team, previous.name, id]);
	into.add(CLAIM_NAME, [team, name, id, at]);
}
