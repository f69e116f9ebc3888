import { COUNT_CAP } from '../../../model/counting.ts';
import { Rejection } from '../../../model/errors.ts';
import { inTimeline, isFull } from '../../../model/message.ts';
import { firstAtOrAfter } from '../../../model/timeline.ts';
import { formatTs } from '../../../model/ts.ts';
import { joinedConversation } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { messagePage } from '../message-objects.ts';
import { costOfRows, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { pageWindow, type Window, wholeWindow } from '../window.ts';

/** Lists the caller's unread messages, and the readers of a message. */

const PAGE = 100;

/** The part of the ascending ts that is in the window. */
const within = (ascending: Float64Array, { after, before }: Window): Float64Array =>
	ascending.subarray(firstAtOrAfter(ascending, after + 1), firstAtOrAfter(ascending, before));

export const conversationsUnreads = userMethod({
	arguments: {
		channel: type.channel,
		oldest: type.oldest,
		latest: type.latest,
		inclusive: type.flag,
		limit: type.limit(PAGE),
		cursor: type.cursor('next_ts'),
		newest_first: type.flag,
	},
	cost: ({ limit }) => costOfRows(limit),
	run: async (args, call) => {
		const conversation = await joinedConversation(call, args.channel);
		const { readState, history } = call.services;
		const unread = await readState.unreadTs(call.caller.user.id, args.channel);
		const remaining = within(unread, pageWindow(args, args.newest_first ? 'backward' : 'forward'));
		const page = [
			...(args.newest_first ? remaining.slice(-args.limit).reverse() : remaining.slice(0, args.limit)),
		];
		const farthest = args.newest_first ? remaining[0] : remaining.at(-1);
		const [oldestUnread] = unread;
		const total = within(unread, wholeWindow(args)).length;
		return boundedAnswer(call, async (mostBytes) => {
			const nearest = args.newest_first ? 'newest' : 'oldest';
			const found = await history.messages(args.channel, page, { nearest, mostBytes });
			const nearestFirst = args.newest_first ? found.toReversed() : found;
			const { objects, isCut } = await messagePage(call, conversation, nearestFirst, mostBytes);
			const isLarge = isCut || isFull(found, mostBytes);
			const last = isLarge ? nearestFirst[objects.length - 1]?.ts : page.at(-1);
			const hasMore = last !== undefined && last !== farthest;
			const answer = {
				messages: objects,
				total: Math.min(total, COUNT_CAP),
				...(total > COUNT_CAP ? { total_is_capped: true } : {}),
				has_more: hasMore,
				...(oldestUnread === undefined ? {} : { oldest_unread: formatTs(oldestUnread) }),
				...nextCursor('next_ts', hasMore ? last : null),
			};
			return { answer, isCut: isLarge };
		});
	},
});

/** In larger conversations clients do not show readers, and computing them is too expensive. */
const MAX_MEMBERS = 1000;

export const conversationsReaders = userMethod({
	arguments: {
		channel: type.channel,
		ts: type.ts('invalid_timestamp'),
		limit: type.limit(type.MAX_PAGE),
		cursor: type.cursor('after'),
	},
	cost: ({ limit }) => costOfRows(limit),
	run: async ({ channel, ts, limit, cursor }, call) => {
		const conversation = await joinedConversation(call, channel);
		if (conversation.memberCount > MAX_MEMBERS)
			throw new Rejection(
				'too_many_members',
				`channel: readers are available for up to ${MAX_MEMBERS} members`,
			);
		const [message] = await call.services.history.messages(channel, [ts]);
		if (!message || !inTimeline(message)) throw new Rejection('message_not_found', 'ts: no such message');
		const page = await call.services.directory.readers(channel, ts, cursor ?? null, limit);
		return { readers: page.items, ...nextCursor('after', page.next) };
	},
});
