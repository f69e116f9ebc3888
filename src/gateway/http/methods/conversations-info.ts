import { SLACKBOT_ID } from '../../../model/ids.ts';
import { visibleConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { fullConversationObject } from '../conversation-objects.ts';
import { userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';

export const conversationsInfo = userMethod({
	arguments: { channel: type.channel, include_num_members: type.flag },
	ignored: ['include_locale'],
	run: async (args, call) => {
		const { conversation } = await visibleConversation(call, args.channel);
		const object = await fullConversationObject(call, conversation);
		return {
			channel: args.include_num_members ? { ...object, num_members: conversation.memberCount } : object,
		};
	},
});

const MEMBERS_PAGE = 100;

export const conversationsMembers = userMethod({
	arguments: { channel: type.channel, limit: type.limit(MEMBERS_PAGE), cursor: type.cursor('after') },
	run: async (args, call) => {
		const { conversation } = await visibleConversation(call, args.channel);
		if (conversation.kind === 'im' && conversation.creator === SLACKBOT_ID)
			return { members: conversation.people, ...nextCursor('after', null) };
		const page = await call.services.directory.members(args.channel, args.cursor ?? null, args.limit);
		return { members: page.items, ...nextCursor('after', page.next) };
	},
});
