import { countFields, type JsonObject } from '../../../protocol/objects.ts';
import type { MarkAnswer } from '../../../unread/marking.ts';
import { asMember } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';

/** Moves the caller's cursor, mutes, and sets notifications. Each method returns the counts afterwards. */

const answerOf = ({ row, ignored }: MarkAnswer): JsonObject => ({
	channel: row.conversation,
	...countFields(row),
	...(ignored ? { ignored: true } : {}),
});

export const conversationsMark = userMethod({
	arguments: { channel: type.channel, ts: type.markTs, revision: optional(type.count) },
	run: async ({ channel, ts, revision }, call) => {
		const { marking } = call.services;
		const mark = { type: 'read', ts, revision } as const;
		return answerOf(await asMember(call, channel, () => marking.mark(call.caller.user.id, channel, mark)));
	},
});

export const conversationsMarkUnread = userMethod({
	arguments: { channel: type.channel, ts: type.ts('invalid_timestamp') },
	run: async ({ channel, ts }, call) => {
		const { marking } = call.services;
		const mark = { type: 'unread', ts } as const;
		return answerOf(await asMember(call, channel, () => marking.mark(call.caller.user.id, channel, mark)));
	},
});

const MAX_MESSAGES = 100;

export const conversationsMarkMessage = userMethod({
	arguments: {
		channel: type.channel,
		ts: type.tsList('invalid_timestamp', MAX_MESSAGES),
		revision: optional(type.count),
	},
	run: async ({ channel, ts: tss, revision }, call) => {
		const { marking } = call.services;
		const mark = { type: 'messages', tss, revision } as const;
		return answerOf(await asMember(call, channel, () => marking.mark(call.caller.user.id, channel, mark)));
	},
});

const muting = (muted: boolean) =>
	userMethod({
		arguments: { channel: type.channel },
		run: async ({ channel }, call) => {
			const { marking } = call.services;
			const change = () => marking.setPreference(call.caller.user.id, channel, { muted });
			return answerOf(await asMember(call, channel, change));
		},
	});

export const conversationsMute = muting(true);
export const conversationsUnmute = muting(false);

export const conversationsSetNotifications = userMethod({
	arguments: { channel: type.channel, level: type.notificationLevel },
	run: async ({ channel, level }, call) => {
		const { marking } = call.services;
		const change = () => marking.setPreference(call.caller.user.id, channel, { level });
		return answerOf(await asMember(call, channel, change));
	},
});
