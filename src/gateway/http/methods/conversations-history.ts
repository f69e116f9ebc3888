import type { Message } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import { readable } from '../access.ts';
import * as type from '../argument-types.ts';
import { messageViews } from '../message-view.ts';
import { costOfRows, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { between } from '../window.ts';

const PAGE = 100;

export const conversationsHistory = userMethod({
	arguments: {
		channel: type.channel,
		oldest: type.oldest,
		latest: type.latest,
		inclusive: type.flag,
		limit: type.limit(PAGE),
		cursor: type.cursor('next_ts'),
	},
	cost: ({ limit }) => costOfRows(limit),
	ignored: ['include_all_metadata', 'include_pin_count', 'ignore_replies', 'no_user_profile'],
	run: async (given, call) => {
		// Slack's own default: everything, the newest page first.
		const args = given.oldest === 0 ? { ...given, oldest: undefined } : given;
		const conversation = await readable(call, args.channel);
		// With `oldest` alone, Slack reads forward: the page nearest to it comes first.
		const forward = args.oldest !== undefined && args.latest === undefined;
		const range = between(args, forward ? 'forward' : 'backward');
		// One more than asked for tells whether there is more.
		const found = await call.services.history.timeline(conversation.id, {
			...range,
			limit: args.limit + 1,
			nearest: forward ? 'oldest' : 'newest',
		});
		const hasMore = found.length > args.limit;
		const page = hasMore ? (forward ? found.slice(0, -1) : found.slice(1)) : found;
		const edge: Message | undefined = forward ? page.at(-1) : page[0];
		return {
			messages: (await messageViews(call, conversation, page)).reverse(),
			has_more: hasMore,
			pin_count: 0,
			...(args.latest === undefined ? {} : { latest: formatTs(args.latest) }),
			...(args.oldest === undefined ? {} : { oldest: formatTs(args.oldest) }),
			...nextCursor('next_ts', hasMore && edge ? edge.ts : null),
		};
	},
});
