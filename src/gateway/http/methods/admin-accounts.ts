import type { User } from '../../../engine/ports/store.ts';
import { Refusal } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { SLACKBOT_NAME } from '../../../protocol/slackbot.ts';
import { publishRevocation } from '../../auth/revocations.ts';
import { accountName } from '../account-name.ts';
import { announceNewUser, announceUser } from '../announce-user.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { adminMethod, type Call } from '../method.ts';
import { wallMicros } from '../wall-time.ts';

/** Workspaces and the people in them, by the administrator. */

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

export const adminTeamsCreate = adminMethod({
	arguments: { name: accountName, domain: optional(domain) },
	run: async (args, { services }) => {
		const team = {
			id: newId('T', services.random),
			name: args.name,
			domain: args.domain ?? domainOf(args.name),
		};
		await services.directory.createTeam({ ...team, createdTs: services.clock.next() });
		return { team };
	},
});

const longText = withDefault(type.text({ max: LONG_LENGTH }), '');

export const adminUsersCreate = adminMethod({
	arguments: {
		team_id: type.team,
		name: accountName,
		real_name: longText,
		email: longText,
		is_bot: type.flag,
	},
	run: async (args, { services }) => {
		if (!(await services.directory.team(args.team_id)))
			throw new Refusal('team_not_found', 'team_id: no such workspace');
		const user = {
			id: newId('U', services.random),
			team: args.team_id,
			name: args.name,
			realName: args.real_name === '' ? args.name : args.real_name,
			email: args.email,
			isBot: args.is_bot,
			deleted: false,
			updatedTs: services.clock.next(),
			signedOutTs: 0,
			profile: {},
			snoozedUntilTs: 0,
		};
		if (args.name === SLACKBOT_NAME || !(await services.directory.createUser(user)))
			throw new Refusal('name_taken', 'name: another user of the workspace has it');
		announceNewUser(services, user);
		return { user: wireUser(user, wallMicros()) };
	},
});

/** Signed out everywhere before it is answered; what they wrote, and what they are in, stays. */
export const adminUsersDeactivate = adminMethod({
	arguments: { user_id: type.user },
	run: async (args, call) => {
		const { directory, auth, bus, clock } = call.services;
		const before = await userWithId(call, args.user_id);
		await directory.deactivateUser(args.user_id, clock.next(), wallMicros());
		auth.forgetUser(args.user_id);
		publishRevocation(bus, null, args.user_id);
		return announced(call, before);
	},
});

/** Tokens and devices do not come back with the user. */
export const adminUsersReactivate = adminMethod({
	arguments: { user_id: type.user },
	run: async (args, call) => {
		const { directory, clock } = call.services;
		const before = await userWithId(call, args.user_id);
		await directory.reactivateUser(args.user_id, clock.next());
		return announced(call, before);
	},
});

/** A request that changes nothing publishes nothing. */
async function announced(call: Call, before: User) {
	const user = await userWithId(call, before.id);
	if (user.deleted !== before.deleted) announceUser(call.services, user);
	return { user: wireUser(user, wallMicros()) };
}

export async function userWithId({ services }: Call, id: string): Promise<User> {
	const [user] = await services.directory.users([id]);
	if (!user) throw new Refusal('user_not_found', 'user_id: no such user');
	return user;
}
