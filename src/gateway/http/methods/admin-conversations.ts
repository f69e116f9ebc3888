import { Rejection } from '../../../model/errors.ts';
import { noChannel, usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { adminMethod } from '../method.ts';

const MAX_ADDED = 10_000;

export const adminConversationsAddMembers = adminMethod({
	arguments: { channel: type.channel, users: type.users('no_user') },
	run: async ({ channel, users }, { services }) => {
		if (users.length > MAX_ADDED)
			throw new Rejection('too_many_users', `users: at most ${MAX_ADDED} per call`);
		const [conversation] = await services.directory.conversations([channel]);
		if (!conversation) throw noChannel();
		const { team } = conversation;
		await usersOf(services, team, users, 'users');
		const result = await services.requests.submit({ user: '', team }, channel, {
			type: 'add_members',
			users,
		});
		return { added: result.added ?? 0, already: result.alreadyMembers ?? 0 };
	},
});
