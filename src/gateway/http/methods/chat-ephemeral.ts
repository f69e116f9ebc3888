import { Rejection } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import { sendEphemeral } from '../../apps/ephemeral.ts';
import { appOfCaller } from '../../apps/interaction.ts';
import { joinedConversation, usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { contentArguments, cutText, hasContent, noText } from '../message-content.ts';
import { userMethod } from '../method.ts';

/** Posts a message that only one member sees and that is not stored. */
export const chatPostEphemeral = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.channel,
		user: type.user,
		...contentArguments,
		thread_ts: optional(type.ts('thread_not_found')),
	},
	ignored: ['as_user', 'icon_emoji', 'icon_url', 'link_names', 'parse', 'username'],
	run: async (args, call) => {
		const { services, caller } = call;
		if (!hasContent(args)) throw noText();
		await joinedConversation(call, args.channel);
		const app = await appOfCaller(call);
		await usersOf(services, caller.team, [args.user], 'user');
		if ((await services.readState.member(args.user, args.channel)) === null)
			throw new Rejection('user_not_in_channel', 'user: not a member of the conversation');
		const { blocks, attachments } = args;
		const message_ts = await sendEphemeral(
			services,
			app,
			{ channel: args.channel, user: args.user },
			{
				text: cutText(args.text ?? '').text,
				blocks,
				attachments,
				thread_ts: args.thread_ts === undefined ? undefined : formatTs(args.thread_ts),
			},
		);
		return { message_ts };
	},
});
