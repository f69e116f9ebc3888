import type { UnreadItem } from '../../../engine/ports/read-state.ts';
import type { History } from '../../../engine/ports/store.ts';
import { bytesOf } from '../../../model/message.ts';
import { formatPosition } from '../../../model/position.ts';
import { formatTs } from '../../../model/ts.ts';
import { type JsonObject, usernameField } from '../../../protocol/objects.ts';
import type { ReadState } from '../../../unread/read-state.ts';
import { joinedConversation } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { CountsEncoder } from '../counts-encoder.ts';
import { answerFromJson, EncodedAnswer } from '../envelope.ts';
import { costOfRows, userMethod } from '../method.ts';
import { originRewriter } from '../origin.ts';

/** All counts of the caller in one call, for clients that start. */
export const clientCounts = userMethod({
	arguments: {},
	ignored: ['thread_counts_by_channel', 'org_wide_aware', 'include_file_channels', 'include_all_unreads'],
	run: async (_args, { services, caller }) => {
		const encoder = new CountsEncoder();
		const totals = await services.readState.countsInto(caller.user.id, encoder);
		services.limits.charge(caller.user.id, 'requests', costOfRows(encoder.rows) - 1);
		return new EncodedAnswer(encoder.finish(totals), () => encoder.release());
	},
});

/** Returns the events that a client missed while disconnected; if they are too many, asks it to reload everything. */
export const clientSync = userMethod({
	arguments: { since: type.position },
	run: async ({ since }, { services, caller, request }) => {
		const user = caller.user.id;
		const missed = await services.sync.missed(user, await services.views.since(user, since));
		const position = formatPosition(missed.position);
		if ('tooFarBehind' in missed) return { history_invalid: true, position };
		const rewriteOrigin = originRewriter(request, services.publicUrl);
		return answerFromJson(
			rewriteOrigin(`{"ok":true,"events":[${missed.frames.join(',')}],"position":"${position}"}`),
		);
	},
});

export const clientMarkAllRead = userMethod({
	arguments: {},
	run: async (_args, { services, caller }) => {
		await services.marking.markAllRead(caller.user.id);
		return {};
	},
});

const MAX_EXPLAINED = 1000;

/** Explains the badge: the newest messages that it counts, oldest first, each with its reasons. */
export const clientExplain = userMethod({
	arguments: { channel: optional(type.channel) },
	run: async ({ channel }, call) => {
		const { services, caller } = call;
		if (channel !== undefined) await joinedConversation(call, channel);
		const unread = await services.readState.unread(caller.user.id, undefined, 'in badge');
		const counted = unread
			.filter(({ conversation }) => channel === undefined || conversation === channel)
			.sort((a, b) => a.ts - b.ts);
		const newestFirst = counted.slice(-MAX_EXPLAINED).reverse();
		const { badge, rowsRead } = await badgeOf(services.readState, caller.user.id, channel);
		services.limits.charge(caller.user.id, 'requests', costOfRows(rowsRead + newestFirst.length) - 1);
		return boundedAnswer(call, async (mostBytes) => {
			const { items, isCut } = await explained(services.history, newestFirst, mostBytes);
			const answer = { items: items.reverse(), badge, has_more: counted.length > items.length };
			return { answer, isCut };
		});
	},
});

/** Returns as many of the first items as fit. */
async function explained(history: History, newestFirst: readonly UnreadItem[], mostBytes: number) {
	const texts = await textsOf(history, newestFirst, mostBytes);
	const items: JsonObject[] = [];
	let bytes = 0;
	for (const { conversation, ts, reasons } of newestFirst) {
		const text = texts.of.get(`${conversation} ${ts}`);
		const item = { channel: conversation, ts: formatTs(ts), ...text, reasons };
		bytes += Buffer.byteLength(JSON.stringify(item));
		// A message that was not loaded for lack of room must not be skipped: the list ends here.
		if ((!text && texts.isCut) || (bytes > mostBytes && items.length > 0)) return { items, isCut: true };
		items.push(item);
	}
	return { items, isCut: false };
}

/**
 * The badge as in `client.counts`, or the share of one conversation and its threads; `rowsRead` is the number of rows
 * read for it.
 */
async function badgeOf(readState: ReadState, user: string, channel: string | undefined) {
	if (channel === undefined) {
		const { badge, rows } = await readState.counts(user);
		return { badge, rowsRead: rows.length };
	}
	const row = await readState.row(user, channel);
	const followed = await readState.threads(user);
	const threads = followed.filter(({ conversation }) => conversation === channel);
	const badge = threads.reduce((sum, thread) => sum + thread.badge, row?.badge ?? 0);
	return { badge, rowsRead: followed.length };
}

async function textsOf(history: History, newestFirst: readonly UnreadItem[], mostBytes: number) {
	const of = new Map<string, JsonObject>();
	let room = mostBytes;
	// Conversations are in the order of their newest item.
	for (const [conversation, found] of Map.groupBy(newestFirst, (item) => item.conversation)) {
		if (room <= 0) return { of, isCut: true };
		const messages = await history.messages(
			conversation,
			found.map(({ ts }) => ts),
			{ nearest: 'newest', mostBytes: room },
		);
		for (const message of messages) {
			const { ts, threadTs, user, text } = message;
			const thread = threadTs === null ? {} : { thread_ts: formatTs(threadTs) };
			of.set(`${conversation} ${ts}`, { ...thread, user, ...usernameField(message), text });
			room -= bytesOf(message);
		}
	}
	return { of, isCut: room <= 0 };
}
