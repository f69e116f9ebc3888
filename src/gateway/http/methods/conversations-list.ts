import type { Conversation } from '../../../model/conversation.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { conversationObject } from '../conversation-objects.ts';
import { type UserCall, userMethod } from '../method.ts';
import { withUnstored } from '../paging.ts';
import { openCursor, sealedNext } from '../sealed-cursor.ts';
import { slackbotDirect } from '../slackbot-direct.ts';
import { userOf } from './users.ts';

/** Lists the conversations of the workspace, and those of a user. */

const PAGE = 100;
const LIST = 'conversations.list';
const OF_USER = 'users.conversations';

const listed = async (call: UserCall, conversation: Conversation) => ({
	...(await conversationObject(call, conversation)),
	num_members: conversation.memberCount,
});

export const conversationsList = userMethod({
	arguments: {
		types: type.types,
		exclude_archived: type.flag,
		limit: type.limit(PAGE),
		cursor: type.sealedCursor,
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
		const after = await openCursor(call, LIST, args.cursor);
		const stored = await call.services.directory.conversationsOf(query, after, args.limit);
		const page = args.types.includes('im')
			? withUnstored(await slackbotDirect(call), stored, after, args.limit)
			: stored;
		return {
			channels: await Promise.all(page.items.map((conversation) => listed(call, conversation))),
			...(await sealedNext(call, LIST, page.next)),
		};
	},
});

export const usersConversations = userMethod({
	arguments: {
		user: optional(type.user),
		types: type.types,
		exclude_archived: type.flag,
		limit: type.limit(PAGE),
		cursor: type.sealedCursor,
	},
	run: async (args, call) => {
		const { caller, services } = call;
		const user = await userOf(call, args.user ?? caller.user.id);
		const query = {
			team: caller.team,
			user: user.id,
			memberOnly: true,
			viewer: caller.user.id,
			kinds: args.types,
			excludeArchived: args.exclude_archived,
		};
		const after = await openCursor(call, OF_USER, args.cursor);
		const page = await services.directory.conversationsOf(query, after, args.limit);
		return {
			channels: await Promise.all(page.items.map((conversation) => listed(call, conversation))),
			...(await sealedNext(call, OF_USER, page.next)),
		};
	},
});
