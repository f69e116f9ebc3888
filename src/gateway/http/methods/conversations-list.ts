import type { Conversation } from '../../../model/conversation.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { conversationView } from '../conversation-view.ts';
import { type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { userOf } from './users.ts';

/** Which conversations there are, and which one is in. */

const PAGE = 100;

const listed = async (call: UserCall, conversation: Conversation) => ({
	...(await conversationView(call, conversation)),
	num_members: conversation.memberCount,
});

export const conversationsList = userMethod({
	arguments: {
		types: type.types,
		exclude_archived: type.flag,
		limit: type.limit(PAGE),
		cursor: type.cursor('after'),
	},
	ignored: ['exclude_members', 'include_num_members'],
	run: async (args, call) => {
		const query = {
			team: call.caller.team,
			user: call.caller.user.id,
			memberOnly: false,
			kinds: args.types,
			excludeArchived: args.exclude_archived,
		};
		const page = await call.services.directory.conversationsOf(query, args.cursor ?? null, args.limit);
		return {
			channels: await Promise.all(page.items.map((conversation) => listed(call, conversation))),
			...nextCursor('after', page.next),
		};
	},
});

export const usersConversations = userMethod({
	arguments: {
		user: optional(type.user),
		types: type.types,
		exclude_archived: type.flag,
		limit: type.limit(PAGE),
		cursor: type.cursor('after'),
	},
	run: async (args, call) => {
		const { caller, services } = call;
		const user = await userOf(call, args.user ?? caller.user.id);
		const query = {
			team: caller.team,
			user: user.id,
			memberOnly: true,
			kinds: args.types,
			excludeArchived: args.exclude_archived,
		};
		const page = await services.directory.conversationsOf(query, args.cursor ?? null, args.limit);
		const shown = user.id === caller.user.id ? page.items : await known(call, page.items);
		return {
			channels: await Promise.all(shown.map((conversation) => listed(call, conversation))),
			...nextCursor('after', page.next),
		};
	},
});

/** Of somebody else's conversations, those that the caller may know of. */
async function known({ services, caller }: UserCall, conversations: readonly Conversation[]) {
	const visible = await Promise.all(
		conversations.map(
			async ({ id, kind }) =>
				kind === 'public' || (await services.readState.member(caller.user.id, id)) !== null,
		),
	);
	return conversations.filter((_, index) => visible[index]);
}
