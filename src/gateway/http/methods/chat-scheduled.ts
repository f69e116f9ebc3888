import type { ScheduledMessage } from '../../../engine/ports/scheduled.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId, SLACKBOT_ID } from '../../../model/ids.ts';
import { joinedConversation, noChannel } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional, required } from '../arguments.ts';
import { contentArguments, cutText } from '../message-content.ts';
import { identityArguments, identityOf } from '../message-identity.ts';
import { costOfRows, type UserCall, userMethod } from '../method.ts';
import { postTarget } from '../post-target.ts';
import { openCursor, sealedNext } from '../sealed-cursor.ts';
import { contentOf, IGNORED_ARGUMENTS, linkNamesArguments, textOf } from './chat.ts';

/** Schedules messages; scheduled-posts.ts posts them. */

const MAX_DAYS = 120;
const MAX_PER_USER = 500;
const PAGE = 100;
const LATEST = Number.MAX_SAFE_INTEGER;

const seconds = required<number>({
	expects: 'a time in seconds since 1970',
	bad: 'invalid_time',
	missing: 'invalid_time',
	parse: (value) => {
		const text = type.asText(value) ?? '';
		return /^\d{1,11}(\.\d+)?$/.test(text) ? Math.floor(Number(text)) : undefined;
	},
});

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Rejects the conversations that `chat.postMessage` would reject now. */
async function checkPostable(call: UserCall, channel: string): Promise<void> {
	const { archived, creator } = await joinedConversation(call, channel);
	// The direct message with Slackbot is listed, but not stored: nothing can be posted there.
	if (creator === SLACKBOT_ID) throw noChannel();
	if (archived) throw new Rejection('is_archived', 'channel: the conversation is archived');
	await call.services.partners.check(call.caller.user.id, channel);
}

export const chatScheduleMessage = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.target,
		post_at: seconds,
		...contentArguments,
		...identityArguments,
		...linkNamesArguments,
		thread_ts: optional(type.ts('thread_not_found')),
		reply_broadcast: type.flag,
	},
	ignored: IGNORED_ARGUMENTS,
	run: async (args, call) => {
		const { services, caller } = call;
		const { post_at: postAt, blocks, attachments, metadata } = args;
		if (postAt <= nowSeconds()) throw new Rejection('time_in_past', 'post_at: must be in the future');
		if (postAt > nowSeconds() + MAX_DAYS * 86_400)
			throw new Rejection('time_too_far', `post_at: at most ${MAX_DAYS} days ahead`);
		const { text } = cutText(await textOf(call, args));
		const identity = identityOf(caller.user, args);
		const { extra } = contentOf(call, text, { blocks, attachments, metadata, ...identity });
		const channel = await postTarget(call, args.channel);
		await checkPostable(call, channel);
		const everything = { conversation: null, oldest: 0, latest: LATEST, after: null, limit: MAX_PER_USER };
		if ((await services.scheduled.of(caller.user.id, everything)).length >= MAX_PER_USER)
			throw new Rejection(
				'restricted_too_many',
				`a user may have at most ${MAX_PER_USER} scheduled messages`,
			);
		const message: ScheduledMessage = {
			id: newId('Q', services.random),
			team: caller.team,
			user: caller.user.id,
			conversation: channel,
			postAt,
			createdTs: services.clock.next(),
			content: { text, extra, threadTs: args.thread_ts ?? null, broadcast: args.reply_broadcast },
		};
		await services.scheduled.add(message);
		return {
			channel,
			scheduled_message_id: message.id,
			post_at: postAt,
			message: { type: 'delayed_message', user: caller.user.id, team: caller.team, text },
		};
	},
});

export const chatDeleteScheduledMessage = userMethod({
	limited: 'posts',
	arguments: { channel: type.channel, scheduled_message_id: type.text({ max: 40, takesEmpty: false }) },
	ignored: ['as_user'],
	run: async ({ channel, scheduled_message_id: id }, { services, caller }) => {
		const message = await services.scheduled.get(id);
		const isTheirs = message?.user === caller.user.id && message.conversation === channel;
		if (!isTheirs || message.postAt <= nowSeconds())
			throw new Rejection(
				'invalid_scheduled_message_id',
				'scheduled_message_id: the caller has no such message, or it was already posted',
			);
		await services.scheduled.remove(id);
		return {};
	},
});

const METHOD = 'chat.scheduledMessages.list';

export const chatScheduledMessagesList = userMethod({
	arguments: {
		channel: optional(type.channel),
		oldest: optional(seconds),
		latest: optional(seconds),
		limit: type.limit(PAGE),
		cursor: type.sealedCursor,
	},
	ignored: ['team_id'],
	cost: ({ limit }) => costOfRows(limit),
	run: async ({ channel, oldest, latest, limit, cursor }, call) => {
		const { services, caller } = call;
		const from = await openCursor(call, METHOD, cursor);
		const [postAt, id] = from?.split(' ') ?? [];
		const found = await services.scheduled.of(caller.user.id, {
			conversation: channel ?? null,
			oldest: oldest ?? 0,
			latest: latest ?? LATEST,
			after: from === null ? null : { postAt: Number(postAt), id: id ?? '' },
			limit: limit + 1,
		});
		const page = found.slice(0, limit);
		const last = found.length > limit ? page.at(-1) : undefined;
		return {
			scheduled_messages: page.map((message) => ({
				id: message.id,
				channel_id: message.conversation,
				post_at: message.postAt,
				date_created: Math.floor(message.createdTs / 1e6),
				text: message.content.text,
			})),
			...(await sealedNext(call, METHOD, last ? `${last.postAt} ${last.id}` : null)),
		};
	},
});
