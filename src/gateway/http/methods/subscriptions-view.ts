import type { ThreadRow } from '../../../engine/ports/read-state.ts';
import type { Message } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { messageViews } from '../message-view.ts';
import { type UserCall, userMethod } from '../method.ts';

/** The threads one follows, newest activity first, each with what is new in it. */

const PAGE = 10;
/** Replies shown of a thread: of the unread ones the oldest, of all the newest. */
const REPLIES_SHOWN = 25;
const LATEST_SHOWN = 3;
/** How far unread replies are looked for among the caller's own. */
const REPLIES_READ = 1000;
const PAGES_READ = 10;

export const subscriptionsThreadGetView = userMethod({
	arguments: { limit: type.limit(PAGE), current_ts: type.latest },
	/** Each thread is looked up by itself. */
	cost: ({ limit }) => limit,
	ignored: ['fetch_threads_state', 'priority_mode'],
	run: async ({ limit, current_ts: before }, call) => {
		const { services, caller } = call;
		const all = (await services.readState.threads(caller.user.id)).filter((row) => row.latestReply > 0);
		const older = all
			.filter((row) => row.latestReply < (before ?? Number.MAX_SAFE_INTEGER))
			.sort((a, b) => b.latestReply - a.latestReply);
		const page = older.slice(0, limit);
		const threads: JsonObject[] = [];
		for (const row of page) {
			const view = await threadView(call, row);
			if (view) threads.push(view);
		}
		return {
			threads,
			total_unread_replies: all.reduce((sum, row) => sum + row.unread, 0),
			new_threads_count: all.filter((row) => row.unread > 0).length,
			has_more: older.length > page.length,
			max_ts: formatTs(page.at(-1)?.latestReply ?? 0),
		};
	},
});

const EVERYTHING = Number.MAX_SAFE_INTEGER;

async function threadView(call: UserCall, row: ThreadRow): Promise<JsonObject | null> {
	const { history, directory } = call.services;
	const { conversation: channel, threadTs } = row;
	const [conversation] = await directory.conversations([channel]);
	const [root] = await history.messages(channel, [threadTs]);
	if (!conversation || !root) return null;
	const newest = { after: threadTs, before: EVERYTHING, limit: LATEST_SHOWN, nearest: 'newest' } as const;
	const latest = await history.replies(channel, threadTs, newest);
	const [rootView] = await messageViews(call, conversation, [root]);
	return {
		root_msg: { ...rootView, channel },
		unread_replies: await messageViews(call, conversation, await unreadReplies(call, row)),
		latest_replies: await messageViews(call, conversation, latest),
		unread_count: row.unread,
		mention_count: row.mentions,
	};
}

/** The oldest replies of others after the read position: the caller's own are never unread. */
async function unreadReplies({ services, caller }: UserCall, row: ThreadRow): Promise<Message[]> {
	const wanted = Math.min(row.unread, REPLIES_SHOWN);
	const found: Message[] = [];
	let after = row.lastRead;
	// Mostly the first few are what is looked for; only who wrote a lot since needs more pages.
	let limit = REPLIES_SHOWN;
	for (let page = 0; page < PAGES_READ && found.length < wanted; page += 1) {
		const range = { after, before: EVERYTHING, limit, nearest: 'oldest' } as const;
		const replies = await services.history.replies(row.conversation, row.threadTs, range);
		found.push(...replies.filter((reply) => reply.user !== caller.user.id));
		const last = replies.at(-1);
		if (!last || replies.length < limit) break;
		after = last.ts;
		limit = REPLIES_READ;
	}
	return found.slice(0, wanted);
}
