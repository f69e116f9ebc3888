import { Rejection } from '../../../model/errors.ts';
import { wireSubscription } from '../../../protocol/events.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import type { Follow } from '../../../sequencer/state.ts';
import * as type from '../argument-types.ts';
import { optional, withDefault } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';
import { ifAvailable, submit } from '../submit.ts';
import { followOfCaller } from '../threads.ts';

/** Follows and unfollows threads, and marks them. */

const thread = { channel: type.channel, thread_ts: type.ts('thread_not_found') };

/** The subscription with its counts, as these methods return it. */
async function subscriptionAnswer(
	{ services, caller }: UserCall,
	channel: string,
	threadTs: number,
	follow: Follow | undefined,
): Promise<{ subscription: JsonObject; unread_count: number; mention_count: number }> {
	const row = await services.readState.thread(caller.user.id, channel, threadTs);
	const described = row ?? {
		conversation: channel,
		threadTs,
		since: follow?.since ?? 0,
		lastRead: follow?.cursor ?? 0,
	};
	return {
		subscription: wireSubscription(described, follow !== undefined),
		unread_count: row?.unread ?? 0,
		mention_count: row?.mentions ?? 0,
	};
}

export const subscriptionsThreadAdd = userMethod({
	arguments: { ...thread, last_read: optional(type.ts('invalid_timestamp')) },
	run: async (args, call) => {
		const { channel, thread_ts: threadTs, last_read: lastRead } = args;
		const { follow } = await submit(call, channel, { type: 'follow', threadTs, lastRead: lastRead ?? null });
		const followed = {
			conversation: channel,
			threadTs,
			since: follow?.since ?? 0,
			lastRead: follow?.cursor ?? 0,
		};
		return ifAvailable<JsonObject>(() => subscriptionAnswer(call, channel, threadTs, follow), {
			subscription: wireSubscription(followed, true),
		});
	},
});

export const subscriptionsThreadRemove = userMethod({
	arguments: thread,
	ignored: ['last_read'],
	run: async ({ channel, thread_ts: threadTs }, call) => {
		await submit(call, channel, { type: 'unfollow', threadTs });
		return {};
	},
});

export const subscriptionsThreadGet = userMethod({
	arguments: thread,
	run: async ({ channel, thread_ts: threadTs }, call) => {
		const follow = await followOfCaller(call, channel, threadTs);
		const answer = await subscriptionAnswer(call, channel, threadTs, follow);
		return { ...answer, subscriptions: follow ? [answer.subscription] : [] };
	},
});

/** `read=0` marks this reply and later ones unread. */
export const subscriptionsThreadMark = userMethod({
	arguments: { ...thread, ts: type.ts('invalid_timestamp'), read: withDefault(type.bool, true) },
	run: async ({ channel, thread_ts: threadTs, ts, read }, call) => {
		const { services, caller } = call;
		// Check the thread and the follow first: they decide the error, even if the mark would move no cursor.
		const follow = await followOfCaller(call, channel, threadTs);
		if (!follow) throw new Rejection('not_subscribed');
		const mark = { type: read ? 'read' : 'unread', ts } as const;
		try {
			await services.marking.markThread(caller.user.id, channel, threadTs, mark);
		} catch (error) {
			// Until the first reply, the author of a root follows it without a stored follow: there is no cursor to move.
			const isUntouched = error instanceof Rejection && error.code === 'not_subscribed';
			if (!isUntouched) throw error;
			if (!read) throw new Rejection('message_not_found', 'ts: no such reply');
		}
		return subscriptionAnswer(call, channel, threadTs, follow);
	},
});

export const subscriptionsThreadClearAll = userMethod({
	arguments: { current_ts: type.latest },
	run: async ({ current_ts: upTo }, { services, caller }) => {
		await services.marking.markThreadsRead(caller.user.id, upTo ?? Number.MAX_SAFE_INTEGER);
		return {};
	},
});
