import { Rejection } from '../../../model/errors.ts';
import { SLACKBOT_ID } from '../../../model/ids.ts';
import type { Result } from '../../../sequencer/commands.ts';
import { usersOf, visibleConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { channelAnswer } from '../conversation-objects.ts';
import { warned } from '../envelope.ts';
import { type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { submit } from '../submit.ts';

/** Lists, adds and removes members of a conversation. The worker that owns the conversation decides who joins and leaves. */

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

/** The conversation after the change. */
async function changedChannel(call: UserCall, { conversation }: Result) {
	if (!conversation) throw new Error('changing members returned no conversation');
	return channelAnswer(call, conversation);
}

export const conversationsJoin = userMethod({
	arguments: { channel: type.channel },
	run: async ({ channel }, call) => {
		const result = await submit(call, channel, { type: 'join' });
		const answer = await changedChannel(call, result);
		return result.unchanged ? { ...answer, ...warned('already_in_channel') } : answer;
	},
});

export const conversationsLeave = userMethod({
	arguments: { channel: type.channel },
	run: async ({ channel }, call) => {
		const result = await submit(call, channel, { type: 'leave' });
		return result.unchanged ? { not_in_channel: true } : {};
	},
});

const MAX_INVITED = 1000;

export const conversationsInvite = userMethod({
	arguments: { channel: type.channel, users: type.users('no_user'), force: type.flag },
	run: async ({ channel, users, force }, call) => {
		if (users.length > MAX_INVITED)
			throw new Rejection('too_many_users', `users: at most ${MAX_INVITED} per call`);
		await usersOf(call.services, call.caller.team, users, 'users');
		return changedChannel(call, await submit(call, channel, { type: 'invite', users, force }));
	},
});

export const conversationsKick = userMethod({
	arguments: { channel: type.channel, user: type.user },
	run: async ({ channel, user }, call) => {
		const [found] = await call.services.directory.users([user]);
		if (found?.team !== call.caller.team)
			throw new Rejection('user_not_found', `user: there is no user ${user}`);
		await submit(call, channel, { type: 'kick', user });
		return {};
	},
});
