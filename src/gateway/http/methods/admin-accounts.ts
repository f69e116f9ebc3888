import type { User } from '../../../engine/ports/store.ts';
import { checkChannelName } from '../../../model/channel-name.ts';
import { Rejection } from '../../../model/errors.ts';
import { generalChannelOf, newId } from '../../../model/ids.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { SLACKBOT_NAME } from '../../../protocol/slackbot.ts';
import { publishRevocation } from '../../auth/revocations.ts';
import { accountName, namesToTry } from '../account-name.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { createGeneral, joinGeneral } from '../general-channel.ts';
import { adminMethod, type Call, wallMicros } from '../method.ts';
import { publishTeamJoin, publishUserChange } from '../publish-changes.ts';

/** Administration of workspaces and their users. */

const LONG_LENGTH = 255;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const domain = required<string>({
	expects: 'lower case letters, digits and hyphens',
	parse: (value) => (typeof value === 'string' && DOMAIN.test(value) ? value : undefined),
});

const domainOf = (teamName: string): string =>
	teamName
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, 63)
		.replace(/^-+|-+$/g, '') || 'workspace';

const channelName = required<string>({
	expects: 'a name for a channel: lower case letters, digits, hyphens and underscores, up to 80 characters',
	parse: (value) => (typeof value === 'string' && !checkChannelName(value) ? value : undefined),
});

export const adminTeamsCreate = adminMethod({
	arguments: { name: accountName, domain: optional(domain), general_channel: optional(channelName) },
	run: async (args, { services }) => {
		const team = {
			id: newId('T', services.random),
			name: args.name,
			domain: args.domain ?? domainOf(args.name),
		};
		if (args.general_channel === undefined) {
			await services.directory.createTeam({ ...team, createdTs: services.clock.next() });
			return { team };
		}
		// Create the channel first: if this fails, there is no workspace without its channel.
		await createGeneral(services, team.id, args.general_channel);
		await services.directory.createTeam({ ...team, createdTs: services.clock.next() });
		return { team, general_channel: generalChannelOf(team.id) };
	},
});

const longText = withDefault(type.text({ max: LONG_LENGTH }), '');

export const adminUsersCreate = adminMethod({
	arguments: {
		team_id: type.team,
		name: optional(accountName),
		real_name: longText,
		email: longText,
		is_bot: type.flag,
	},
	run: async (args, { services }) => {
		if (!(await services.directory.team(args.team_id)))
			throw new Rejection('team_not_found', 'team_id: no such workspace');
		if (args.name === undefined && args.real_name.trim() === '')
			throw new Rejection('missing_argument', 'name: required, or real_name to derive it from');
		for (const name of namesToTry(args.name, args.real_name)) {
			const user: User = {
				id: newId('U', services.random),
				team: args.team_id,
				name,
				realName: args.real_name === '' ? name : args.real_name,
				email: args.email,
				isBot: args.is_bot,
				deleted: false,
				updatedTs: services.clock.next(),
				signedOutTs: 0,
				profile: {},
				snoozedUntilTs: 0,
			};
			if (name === SLACKBOT_NAME || !(await services.directory.createUser(user))) continue;
			publishTeamJoin(services, user);
			await joinGeneral(services, user);
			return { user: wireUser(user, wallMicros()) };
		}
		throw new Rejection('name_taken', 'name: another user of the workspace has it');
	},
});

/** Signs the user out everywhere before it answers. Messages and memberships stay. */
export const adminUsersDeactivate = adminMethod({
	arguments: { user_id: type.user },
	run: async (args, call) => {
		const { directory, auth, bus, clock } = call.services;
		const before = await userWithId(call, args.user_id);
		await directory.deactivateUser(args.user_id, clock.next(), wallMicros());
		auth.forgetUser(args.user_id);
		publishRevocation(bus, null, args.user_id);
		return publishAndReturn(call, before);
	},
});

/** Does not restore tokens and devices. */
export const adminUsersReactivate = adminMethod({
	arguments: { user_id: type.user },
	run: async (args, call) => {
		const { directory, clock } = call.services;
		const before = await userWithId(call, args.user_id);
		await directory.reactivateUser(args.user_id, clock.next());
		return publishAndReturn(call, before);
	},
});

/** Publishes `user_change` only if something changed. */
async function publishAndReturn(call: Call, before: User) {
	const user = await userWithId(call, before.id);
	if (user.deleted !== before.deleted) publishUserChange(call.services, user);
	return { user: wireUser(user, wallMicros()) };
}

export async function userWithId({ services }: Call, id: string): Promise<User> {
	const [user] = await services.directory.users([id]);
	if (!user) throw new Rejection('user_not_found', 'user_id: no such user');
	return user;
}
