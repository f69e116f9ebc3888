import { bytesOf, isFull, type Message } from '../../model/message.ts';
import type { History, Range, ThreadInfo } from '../ports/store.ts';
import { readPins } from './pins.ts';
import { readReactions } from './reactions.ts';
import { belongsToTimeline, MESSAGE_BYTES, MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts';
import { inChunks, list, type SqlReader } from './sql.ts';
import { REPLY_USERS_SHOWN, ThreadSummaries } from './thread-summaries.ts';

/** Messages in pages. A page is read along an index, from the requested end. */

/** Threads with more replies are summarised in steps. */
const LARGE_THREAD = 500;

type End = Range['nearest'];

interface PageSql {
	readonly rows: string;
	/** Sizes of the same rows in the same order, without reading their texts. */
	readonly sizes: string;
}

const SIZE = `m.ts, ${MESSAGE_BYTES} AS bytes`;

const byEnd = (sql: (columns: string, order: string) => string): Readonly<Record<End, PageSql>> => ({
	newest: { rows: sql(MESSAGE_COLUMNS, 'DESC'), sizes: sql(SIZE, 'DESC') },
	oldest: { rows: sql(MESSAGE_COLUMNS, 'ASC'), sizes: sql(SIZE, 'ASC') },
});

/** A deleted root is shown as a tombstone while it has replies. */
const TIMELINE = byEnd(
	(columns, order) => `SELECT ${columns} FROM messages m
	WHERE m.conversation = $1 AND m.ts > $2 AND m.ts < $3 AND ${belongsToTimeline()}
		AND (m.deleted = 0 OR (m.thread_ts IS NULL AND EXISTS (SELECT 1 FROM messages r
			WHERE r.conversation = m.conversation AND r.thread_ts = m.ts AND r.deleted = 0)))
	ORDER BY m.ts ${order} LIMIT $4`,
);

const REPLIES = byEnd(
	(columns, order) => `SELECT ${columns} FROM messages m
	WHERE m.conversation = $1 AND m.thread_ts = $5 AND m.ts > $2 AND m.ts < $3 AND m.deleted = 0
	ORDER BY m.ts ${order} LIMIT $4`,
);

const MESSAGES = byEnd(
	(columns, order) => `SELECT ${columns} FROM messages m
	WHERE m.conversation = $1 AND m.ts IN (SELECT item FROM EACH_INTEGER($2) AS wanted) ORDER BY m.ts ${order}`,
);

const REPLIERS = `SELECT thread_ts, user_id, count(*) AS replies, min(ts) AS first_ts, max(ts) AS latest_ts
	FROM messages
	WHERE conversation = $1 AND thread_ts IN (SELECT item FROM EACH_INTEGER($2) AS wanted) AND deleted = 0
	GROUP BY thread_ts, user_id ORDER BY thread_ts, first_ts`;

const LARGE_THREADS = `SELECT wanted.item AS thread_ts FROM EACH_INTEGER($2) AS wanted
	WHERE (SELECT m.ts FROM messages m WHERE m.conversation = $1 AND m.thread_ts = wanted.item
		ORDER BY m.ts LIMIT 1 OFFSET $3) IS NOT NULL`;

interface ReplierRow {
	readonly thread_ts: number;
	readonly user_id: string;
	readonly replies: number;
	readonly latest_ts: number;
}

/** Replaces infinite bounds, which are not integers. */
const bound = (ts: number): number =>
	Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ts));

const inOrder = (messages: Message[], nearest: End): Message[] =>
	nearest === 'newest' ? messages.reverse() : messages;

interface Size {
	readonly ts: number;
	readonly bytes: number;
}

/** How many of these rows fit into a page: the last one reaches the limit. */
function fitting(sizes: readonly Size[], mostBytes: number): number {
	let bytes = 0;
	const last = sizes.findIndex((size) => {
		bytes += size.bytes;
		return bytes >= mostBytes;
	});
	return last < 0 ? sizes.length : last + 1;
}

const roomAfter = (found: readonly Message[], mostBytes: number): number =>
	found.reduce((room, message) => room - bytesOf(message), mostBytes);

/** So few messages never exceed the limit, and are read without measuring. */
const UNMEASURED = 4;

export function historyOn(reader: SqlReader): History {
	const summaries = new ThreadSummaries(reader);
	/**
	 * $4 is the limit. Sizes and rows are two reads: the second one reads the rows that the first one found, and no newer ones.
	 * If messages were deleted or shortened in between, it reads further, because callers detect a next page by a page that is full
	 * in messages or bytes.
	 */
	const page = async (
		sql: PageSql,
		params: readonly [string, number, number, number, ...number[]],
		range: Range,
	) => {
		const { nearest, mostBytes } = range;
		if (mostBytes === undefined || range.limit <= UNMEASURED)
			return inOrder((await reader.all<MessageRow>(sql.rows, params)).map(messageOf), nearest);
		const found: Message[] = [];
		let [conversation, after, before, limit, ...more] = params;
		for (;;) {
			const sizes = await reader.all<Size>(sql.sizes, [conversation, after, before, limit, ...more]);
			const fit = fitting(sizes, roomAfter(found, mostBytes));
			const [nearestTs, farthestTs] = [sizes[0]?.ts, sizes[fit - 1]?.ts];
			if (nearestTs === undefined || farthestTs === undefined) return inOrder(found, nearest);
			const [first, last] =
				nearest === 'newest' ? [farthestTs, nearestTs] : ([nearestTs, farthestTs] as const);
			const within = [conversation, first - 1, last + 1, fit, ...more];
			const rows = await reader.all<MessageRow>(sql.rows, within);
			for (const row of rows) found.push(messageOf(row));
			const isAll = fit === sizes.length && sizes.length < limit;
			limit -= rows.length;
			if (isAll || limit === 0 || isFull(found, mostBytes)) return inOrder(found, nearest);
			if (nearest === 'newest') before = farthestTs;
			else after = farthestTs;
		}
	};
	const chosen = async (conversation: string, ts: readonly number[]) =>
		inChunks(
			reader,
			[...ts].sort((a, b) => a - b),
			async (chunk) =>
				(await reader.all<MessageRow>(MESSAGES.oldest.rows, [conversation, list(chunk)])).map(messageOf),
		);
	const { reactions, reactors, reactedTo } = readReactions(reader);
	return {
		reactions,
		reactors,
		reactedTo,
		pins: readPins(reader),
		timeline: (conversation, range) =>
			page(
				TIMELINE[range.nearest],
				[conversation, bound(range.after), bound(range.before), range.limit],
				range,
			),
		replies: (conversation, threadTs, range) =>
			page(
				REPLIES[range.nearest],
				[conversation, bound(range.after), bound(range.before), range.limit, threadTs],
				range,
			),
		async messages(conversation, ts, most) {
			if (!most || ts.length <= UNMEASURED) return chosen(conversation, ts);
			const { nearest, mostBytes } = most;
			const found: Message[] = [];
			for (let left = ts; ; ) {
				const sizes = await reader.all<Size>(MESSAGES[nearest].sizes, [conversation, list(left)]);
				const fit = fitting(sizes, roomAfter(found, mostBytes));
				const stamps = sizes.map((size) => size.ts);
				for (const message of await chosen(conversation, stamps.slice(0, fit))) found.push(message);
				left = stamps.slice(fit);
				if (left.length === 0 || isFull(found, mostBytes)) return found.sort((a, b) => a.ts - b.ts);
			}
		},
		threads: (conversation, roots) =>
			inChunks(reader, roots, async (chunk) => {
				const params = [conversation, list(chunk), LARGE_THREAD];
				const found = await reader.all<{ thread_ts: number }>(LARGE_THREADS, params);
				const large = new Set(found.map(({ thread_ts }) => thread_ts));
				const small = chunk.filter((root) => !large.has(root));
				const threads = summarised(await reader.all<ReplierRow>(REPLIERS, [conversation, list(small)]));
				for (const root of large) threads.push(await summaries.of(conversation, root));
				return threads.filter(({ replyCount }) => replyCount > 0);
			}),
	};
}

/** Rows are grouped by thread, with users in order of their first reply. */
function summarised(rows: readonly ReplierRow[]): ThreadInfo[] {
	const threads: ThreadInfo[] = [];
	for (let start = 0; start < rows.length; ) {
		const threadTs = (rows[start] as ReplierRow).thread_ts;
		const replyUsers: string[] = [];
		let replyCount = 0;
		let latestReply = 0;
		let end = start;
		for (; rows[end]?.thread_ts === threadTs; end += 1) {
			const row = rows[end] as ReplierRow;
			replyCount += row.replies;
			latestReply = Math.max(latestReply, row.latest_ts);
			if (replyUsers.length < REPLY_USERS_SHOWN) replyUsers.push(row.user_id);
		}
		threads.push({ threadTs, replyCount, latestReply, replyUsers, replyUsersCount: end - start });
		start = end;
	}
	return threads;
}
