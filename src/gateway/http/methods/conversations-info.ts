import { visibleConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { fullConversationObject } from '../conversation-objects.ts';
import { userMethod } from '../method.ts';

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
