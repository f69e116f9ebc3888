import type { ConversationKind } from '../../model/ids.ts';
import type { Follow, JoinState } from '../../sequencer/state.ts';
import type { ConversationBrief, EntryRow, StateSource } from '../ports/store.ts';
import { readReactions } from './reactions.ts';
import {
	CONVERSATION_COLUMNS,
	type ConversationRow,
	conversationOf,
	ENTRY_COLUMNS,
	type EntryColumns,
	entryOf,
	isInTimeline,
	MENTIONS_SOMEBODY,
	type MessageRow,
} from './rows.ts';
import { inChunks, inSteps, list, type SqlReader, withLowPriority } from './sql.ts';
import { userReadState, userStatesIn } from './user-state.ts';

/** Loads state for the sequencer and the read state. */

/**
 * The stamp of conversation `c` in three parts; the largest counts. A post writes only its
 * message, so the newest message and the newest edit are looked up, each at the end of an index.
 */
const STAMPS = `c.stamp,
	COALESCE((SELECT max(m.ts) FROM messages m WHERE m.conversation = c.id), 0) AS newest_ts,
	COALESCE((SELECT max(m.changed_ts) FROM messages m
		WHERE m.conversation = c.id AND m.changed_ts > m.ts), 0) AS newest_change`;

interface StampColumns {
	readonly stamp: number;
	readonly newest_ts: number;
	readonly newest_change: number;
}

const stampOf = (row: StampColumns): number => Math.max(row.stamp, row.newest_ts, row.newest_change);

const HEAD = `SELECT ${CONVERSATION_COLUMNS}, ${STAMPS} FROM conversations c WHERE c.id = $1`;

const BRIEFS = `SELECT c.id, c.team, c.kind, c.archived, ${STAMPS},
	COALESCE((SELECT m.ts FROM messages m WHERE m.conversation = c.id AND ${isInTimeline()}
		ORDER BY m.ts DESC LIMIT 1), 0) AS latest
	FROM EACH_TEXT($1) AS wanted CROSS JOIN conversations c WHERE c.id = wanted.item`;

interface BriefRow extends StampColumns {
	readonly id: string;
	readonly team: string;
	readonly kind: ConversationKind;
	readonly archived: number;
	readonly latest: number;
}

const briefOf = (row: BriefRow): ConversationBrief => ({
	id: row.id,
	team: row.team,
	kind: row.kind,
	archived: row.archived === 1,
	latest: row.latest,
	stamp: stampOf(row),
});

const MEMBERSHIPS = `SELECT user_id, member, joined_ts FROM members
	WHERE user_id IN (SELECT item FROM EACH_TEXT($2) AS wanted) AND conversation = $1`;
const THREAD_REPLIES = `SELECT ts, user_id FROM messages
	WHERE conversation = $1 AND thread_ts = $2 AND ts > $3 AND deleted = 0 ORDER BY ts LIMIT $4`;
const FOLLOWS = `SELECT user_id, active, cursor, since FROM thread_follows
	WHERE conversation = $1 AND thread_ts = $2 AND since > 0
		AND user_id IN (SELECT item FROM EACH_TEXT($3) AS wanted)`;
const SEND = `SELECT max(ts) AS ts FROM messages
	WHERE conversation = $1 AND user_id = $2 AND client_msg_id = $3`;
const RECENT_SENDS = `SELECT user_id, client_msg_id, ts FROM messages
	WHERE conversation = $1 AND ts > $2 AND ts < $4 AND client_msg_id IS NOT NULL ORDER BY ts DESC LIMIT $3`;
const timelineEntries = (condition: string): string => `SELECT ${ENTRY_COLUMNS} FROM messages m
	WHERE m.conversation = $1 AND m.ts > $2 AND m.ts <= $3 AND ${condition} ORDER BY m.ts DESC LIMIT $4`;
const TIMELINE_ENTRIES = timelineEntries(isInTimeline());
/**
 * SQLite uses the index only if the query repeats its condition verbatim. The query has no further condition, so that a step
 * reads no more rows than its limit.
 */
const MENTIONING = `SELECT ${ENTRY_COLUMNS}, thread_ts, deleted FROM messages m
	WHERE m.conversation = $1 AND m.ts > $2 AND m.ts <= $3 AND ${MENTIONS_SOMEBODY} ORDER BY m.ts DESC LIMIT $4`;
type MentioningColumns = EntryColumns & Pick<MessageRow, 'thread_ts' | 'deleted'>;
const isTimelineRow = (row: MentioningColumns): boolean =>
	row.deleted === 0 && (row.thread_ts === null || row.broadcast === 1);
/**
 * Reads only the newest entries, up to the limit: the subquery finds the newest entry that no longer fits, and the entries after it
 * are read. The list is parsed once (MATERIALIZED), and the caller sorts the rows: each halves the time.
 */
const TIMELINES = `WITH wanted AS MATERIALIZED (SELECT item, low, high FROM EACH_RANGE($1) AS ranges)
	SELECT m.conversation, ${ENTRY_COLUMNS} FROM wanted CROSS JOIN messages m
	WHERE m.conversation = wanted.item AND m.ts <= wanted.high AND ${isInTimeline()} AND m.ts > COALESCE(
		(SELECT n.ts FROM messages n WHERE n.conversation = wanted.item
			AND n.ts > wanted.low AND n.ts <= wanted.high AND ${isInTimeline('n')}
			ORDER BY n.ts DESC LIMIT 1 OFFSET $2), wanted.low)`;
const THREAD_ENTRIES = `SELECT ${ENTRY_COLUMNS} FROM messages m
	WHERE m.conversation = $1 AND m.thread_ts = $4 AND m.ts <= $2 AND m.deleted = 0 ORDER BY m.ts DESC LIMIT $3`;
interface SendColumns {
	readonly user_id: string;
	readonly client_msg_id: string;
	readonly ts: number;
}
const EVERYTHING = Number.MAX_SAFE_INTEGER;
const STARTS = 'SELECT at FROM starts ORDER BY at';

/** Up to this many entries are read with high priority, because a post may wait for them. */
const FEW_ENTRIES = 128;

export function sourceOn(reader: SqlReader, completeUpTo: () => number = () => 0): StateSource {
	const lowPriority = withLowPriority(reader);
	const { reactionsFor } = readReactions(reader);
	return {
		reactionsFor,
		async head(conversation) {
			const [row] = await reader.all<ConversationRow & StampColumns>(HEAD, [conversation]);
			if (row === undefined) return null;
			return { conversation: conversationOf(row), stamp: stampOf(row), lastTs: row.newest_ts };
		},

		async memberships(conversation, users) {
			const rows = await inChunks(reader, users, (chunk) =>
				reader.all<{ user_id: string; member: number; joined_ts: number }>(MEMBERSHIPS, [
					conversation,
					list(chunk),
				]),
			);
			const found = new Map<string, JoinState>();
			for (const row of rows) found.set(row.user_id, { member: row.member === 1, joinedTs: row.joined_ts });
			return found;
		},

		async threadReplies(conversation, threadTs) {
			const rows = await inSteps<{ ts: number; user_id: string }>(lowPriority, EVERYTHING, (last, limit) =>
				lowPriority.all(THREAD_REPLIES, [conversation, threadTs, last?.ts ?? 0, limit]),
			);
			return rows.map((row) => ({ ts: row.ts, user: row.user_id }));
		},

		async follows(conversation, threadTs, users) {
			const rows = await inChunks(reader, users, (chunk) =>
				reader.all<{ user_id: string; active: number; cursor: number; since: number }>(FOLLOWS, [
					conversation,
					threadTs,
					list(chunk),
				]),
			);
			const found = new Map<string, Follow>();
			for (const { user_id, active, cursor, since } of rows)
				found.set(user_id, { active: active === 1, cursor, since });
			return found;
		},

		async send(conversation, user, clientMsgId) {
			const [row] = await reader.all<{ ts: number | null }>(SEND, [conversation, user, clientMsgId]);
			return row?.ts ?? null;
		},

		async recentSends(conversation, after, limit) {
			const rows = await inSteps<SendColumns>(lowPriority, limit, (last, stepLimit) =>
				lowPriority.all(RECENT_SENDS, [conversation, after, stepLimit, last?.ts ?? EVERYTHING]),
			);
			return rows.map((row) => ({ user: row.user_id, clientMsgId: row.client_msg_id, ts: row.ts })).reverse();
		},

		briefs: (conversations) =>
			inChunks(reader, conversations, async (chunk) =>
				(await reader.all<BriefRow>(BRIEFS, [list(chunk)])).map(briefOf),
			),
		user: (user) => userReadState(reader, user),
		usersIn: (conversation, users) => userStatesIn(reader, conversation, users),

		async timelineEntries(conversation, after, upTo, limit) {
			const prioritised = limit > FEW_ENTRIES ? lowPriority : reader;
			const rows = await prioritised.all<EntryColumns>(TIMELINE_ENTRIES, [conversation, after, upTo, limit]);
			return rows.map(entryOf).reverse();
		},
		async mentioningEntries(conversation, after, upTo, limit) {
			const rows = await lowPriority.all<MentioningColumns>(MENTIONING, [conversation, after, upTo, limit]);
			const oldest = rows.at(-1);
			return {
				entries: rows.filter(isTimelineRow).map(entryOf).reverse(),
				next: oldest === undefined || rows.length < limit ? null : oldest.ts - 1,
			};
		},
		async timelinesOf(ranges, limitEach) {
			const rows = await inChunks(lowPriority, ranges, (chunk) =>
				lowPriority.all<EntryColumns & { conversation: string }>(TIMELINES, [
					JSON.stringify(chunk.map(({ conversation, after, upTo }) => [conversation, after, upTo])),
					limitEach,
				]),
			);
			const found = new Map<string, EntryRow[]>();
			for (const row of rows) {
				const entries = found.get(row.conversation);
				if (entries) entries.push(entryOf(row));
				else found.set(row.conversation, [entryOf(row)]);
			}
			for (const entries of found.values()) entries.sort((a, b) => a.ts - b.ts);
			return found;
		},
		async threadEntries(conversation, threadTs, upTo, limit) {
			const rows = await lowPriority.all<EntryColumns>(THREAD_ENTRIES, [conversation, upTo, limit, threadTs]);
			return rows.map(entryOf).reverse();
		},

		completeUpTo,
		starts: async () => (await reader.all<{ at: number }>(STARTS, [])).map(({ at }) => at),
	};
}
