import type { ReadState, UnreadItem } from '../../../engine/ports/read-state.ts';
import type { History } from '../../../engine/ports/store.ts';
import { formatTs } from '../../../model/ts.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { joined } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { CountsEncoder } from '../counts-encoder.ts';
import { EncodedAnswer } from '../envelope.ts';
import { userMethod } from '../method.ts';

/** What a client asks for when it starts: everything one has unread, in one call. */
export const clientCounts = userMethod({
	arguments: {},
	ignored: ['thread_counts_by_channel', 'org_wide_aware', 'include_file_channels', 'include_all_unreads'],
	run: async (_args, { services, caller }) => {
		const encoder = new CountsEncoder();
		const totals = await services.readState.countsInto(caller.user.id, encoder);
		return new EncodedAnswer(encoder.finish(totals), () => encoder.release());
	},
});

export const clientMarkAllRead = userMethod({
	arguments: {},
	run: async (_args, { services, caller }) => {
		await services.reads.markAllRead(caller.user.id);
		return {};
	},
});

const MOST_EXPLAINED = 1000;

/** Why the badge is on: the newest messages that make it up, oldest first, each with its reasons. */
export const clientExplain = userMethod({
	arguments: { channel: optional(type.channel) },
	run: async ({ channel }, call) => {
		const { services, caller } = call;
		if (channel !== undefined) await joined(call, channel);
		const unread = await services.readState.unread(caller.user.id);
		const counted = unread
			.filter((item) => item.reasons.length > 0 && (channel === undefined || item.conversation === channel))
			.sort((a, b) => a.ts - b.ts);
		const newest = counted.slice(-MOST_EXPLAINED);
		const texts = await textsOf(services.history, newest);
		const items = newest.map(({ conversation, ts, reasons }) => ({
			channel: conversation,
			ts: formatTs(ts),
			...texts.get(`${conversation} ${ts}`),
			reasons,
		}));
		return {
			items,
			badge: await badgeOf(services.readState, caller.user.id, channel),
			has_more: counted.length > newest.length,
		};
	},
});

/** The number that `client.counts` shows, or what one conversation and the threads in it add to that. */
async function badgeOf(readState: ReadState, user: string, channel: string | undefined): Promise<number> {
	if (channel === undefined) return (await readState.counts(user)).badge;
	const row = await readState.row(user, channel);
	const threads = (await readState.threads(user)).filter(({ conversation }) => conversation === channel);
	return threads.reduce((sum, thread) => sum + thread.badge, row?.badge ?? 0);
}

async function textsOf(history: History, items: readonly UnreadItem[]): Promise<Map<string, JsonObject>> {
	const texts = new Map<string, JsonObject>();
	for (const [conversation, found] of Map.groupBy(items, (item) => item.conversation)) {
		const messages = await history.messages(
			conversation,
			found.map(({ ts }) => ts),
		);
		for (const { ts, threadTs, user, text } of messages) {
			const thread = threadTs === null ? {} : { thread_ts: formatTs(threadTs) };
			texts.set(`${conversation} ${ts}`, { ...thread, user, text });
		}
	}
	return texts;
}
