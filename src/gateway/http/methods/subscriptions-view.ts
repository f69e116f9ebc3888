import type { ThreadRow } from '../../../engine/ports/read-state.ts';
import { isFull, type Message } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { type BoundedAnswer, boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { messageObjects, messagePage } from '../message-objects.ts';
import { type UserCall, userMethod } from '../method.ts';

/** The threads that the caller follows, newest activity first, each with its new replies. */

const PAGE = 10;
/** Replies shown per thread: the oldest unread ones, and the newest of all. */
const REPLIES_SHOWN = 25;
const LATEST_SHOWN = 3;
/** Page size and maximum number of pages when the caller's own replies, which are never unread, have to be skipped. */
const REPLIES_PER_PAGE = 1000;
const MAX_PAGES = 10;

export const subscriptionsThreadGetView = userMethod({
	arguments: { limit: type.limit(PAGE), current_ts: type.latest },
	/** Each thread is loaded separately. */
	cost: ({ limit }) => limit,
	ignored: ['fetch_threads_state', 'priority_mode'],
	run: async ({ limit, current_ts: before }, call) => {
		const { services, caller } = call;
		const all = (await services.readState.threads(caller.user.id)).filter((row) => row.latestReply > 0);
		const older = all
			.filter((row) => row.latestReply < (before ?? Number.MAX_SAFE_INTEGER))
			.sort((a, b) => b.latestReply - a.latestReply);
		return boundedAnswer(call, (mostBytes) => answerOf(call, all, older, { limit, mostBytes }));
	},
});

async function answerOf(
	call: UserCall,
	all: readonly ThreadRow[],
	older: readonly ThreadRow[],
	{ limit, mostBytes }: { readonly limit: number; readonly mostBytes: number },
): Promise<BoundedAnswer> {
	const threads: JsonObject[] = [];
	let examined = 0;
	let bytes = 0;
	let isCut = false;
	for (const row of older.slice(0, limit)) {
		const shown = await boundedThread(call, row, mostBytes);
		bytes += shown ? Buffer.byteLength(JSON.stringify(shown.thread)) : 0;
		isCut ||= shown?.isCut === true || bytes > mostBytes;
		if (bytes > mostBytes && threads.length > 0) break;
		examined += 1;
		if (shown) threads.push(shown.thread);
	}
	const answer = {
		threads,
		total_unread_replies: all.reduce((sum, row) => sum + row.unread, 0),
		new_threads_count: all.filter((row) => row.unread > 0).length,
		has_more: older.length > examined,
		max_ts: formatTs(older[examined - 1]?.latestReply ?? 0),
	};
	return { answer, isCut };
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

interface BoundedThread {
	readonly thread: JsonObject;
	/** Not all unread replies fit. */
	readonly isCut: boolean;
}

async function boundedThread(
	call: UserCall,
	row: ThreadRow,
	mostBytes: number,
): Promise<BoundedThread | null> {
	const { history, directory } = call.services;
	const { conversation: channel, threadTs } = row;
	const [conversation] = await directory.conversations([channel]);
	const [root] = await history.messages(channel, [threadTs]);
	if (!conversation || !root) return null;
	const newest = { after: threadTs, before: EVERYTHING, limit: LATEST_SHOWN, nearest: 'newest' } as const;
	const latest = await history.replies(channel, threadTs, newest);
	const [rootObject] = await messageObjects(call, conversation, [root]);
	// Unread replies get half of the bytes. The root and the latest replies are few, and get the other half.
	const room = mostBytes / 2;
	const unread = await unreadReplies(call, row, room);
	const { objects, isCut } = await messagePage(call, conversation, unread.replies, room);
	const thread = {
		root_msg: { ...rootObject, channel },
		unread_replies: objects,
		latest_replies: await messageObjects(call, conversation, latest),
		unread_count: row.unread,
		mention_count: row.mentions,
	};
	return { thread, isCut: isCut || unread.isCut };
}

/** The oldest replies of others after the cursor; the caller's own are never unread. */
async function unreadReplies({ services, caller }: UserCall, row: ThreadRow, mostBytes: number) {
	const wanted = Math.min(row.unread, REPLIES_SHOWN);
	const found: Message[] = [];
	let after = row.lastRead;
	// The first few are usually enough; a caller who wrote many replies since needs more pages.
	let limit = REPLIES_SHOWN;
	for (let page = 0; page < MAX_PAGES && found.length < wanted; page += 1) {
		const range = { after, before: EVERYTHING, limit, nearest: 'oldest', mostBytes } as const;
		const replies = await services.history.replies(row.conversation, row.threadTs, range);
		found.push(...replies.filter((reply) => reply.user !== caller.user.id));
		const last = replies.at(-1);
		const isLarge = isFull(replies, mostBytes);
		if (isFull(found, mostBytes)) return { replies: found.slice(0, wanted), isCut: found.length < wanted };
		if (!last || (replies.length < limit && !isLarge)) break;
		after = last.ts;
		limit = REPLIES_PER_PAGE;
	}
	return { replies: found.slice(0, wanted), isCut: false };
}
