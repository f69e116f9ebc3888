import { isFull } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import { readableConversation } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { messagePage, withoutMetadata } from '../message-objects.ts';
import { costOfRows, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { pageWindow } from '../window.ts';

/** Returns the timeline of a conversation, a page at a time. */

const PAGE = 100;

export const conversationsHistory = userMethod({
	arguments: {
		channel: type.channel,
		oldest: type.oldest,
		latest: type.latest,
		inclusive: type.flag,
		limit: type.limit(PAGE),
		cursor: type.cursor('next_ts'),
		include_all_metadata: type.flag,
	},
	cost: ({ limit }) => costOfRows(limit),
	ignored: ['include_pin_count', 'ignore_replies', 'no_user_profile'],
	run: async (given, call) => {
		// `oldest=0` is Slack's default: everything, the newest page first.
		const args = given.oldest === 0 ? { ...given, oldest: undefined } : given;
		const conversation = await readableConversation(call, args.channel);
		// With `oldest` alone, Slack reads forward: the page nearest to it comes first.
		const forward = args.oldest !== undefined && args.latest === undefined;
		const range = pageWindow(args, forward ? 'forward' : 'backward');
		const pins = await call.services.history.pins(conversation.id);
		return boundedAnswer(call, async (mostBytes) => {
			// One more than requested shows whether there is a next page.
			const found = await call.services.history.timeline(conversation.id, {
				...range,
				limit: args.limit + 1,
				nearest: forward ? 'oldest' : 'newest',
				mostBytes,
			});
			const nearestFirst = (forward ? found : found.toReversed()).slice(0, args.limit);
			const { objects: whole, isCut } = await messagePage(call, conversation, nearestFirst, mostBytes);
			const objects = args.include_all_metadata ? whole : whole.map(withoutMetadata);
			const isLarge = isCut || isFull(found, mostBytes);
			const hasMore = isLarge || found.length > args.limit;
			const edge = nearestFirst[objects.length - 1];
			const answer = {
				messages: forward ? objects.reverse() : objects,
				has_more: hasMore,
				pin_count: pins.length,
				...(args.latest === undefined ? {} : { latest: formatTs(args.latest) }),
				...(args.oldest === undefined ? {} : { oldest: formatTs(args.oldest) }),
				...nextCursor('next_ts', hasMore && edge ? edge.ts : null),
			};
			return { answer, isCut: isLarge };
		});
	},
});
