import { Refusal } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { tellRevoked } from '../../auth/revocations.ts';
import { looksLikeJwt, newToken, tokenKey } from '../../auth/tokens.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { adminMethod } from '../method.ts';

/** Workspaces, people and tokens, by the administrator. */

const NAME_LENGTH = 80;
const LONG_LENGTH = 255;
const CONTROL_CHARACTER = /\p{Cc}/u;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const name = required<string>({
	expects: `a name of up to ${NAME_LENGTH} characters`,
	parse: (value) => {
		const trimmed = typeof value === 'string' ? value.toWellFormed().trim() : '';
		const fits = trimmed !== '' && trimmed.length <= NAME_LENGTH && !CONTROL_CHARACTER.test(trimmed);
		return fits ? trimmed : undefined;
	},
});

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
	arguments: { name, domain: optional(domain) },
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
	arguments: { team_id: type.team, name, real_name: longText, email: longText, is_bot: type.flag },
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
		};
		if (!(await services.directory.createUser(user)))
			throw new Refusal('name_taken', 'name: another user of the workspace has it');
		return { user: wireUser(user) };
	},
});

export const adminTokensCreate = adminMethod({
	arguments: { user_id: type.user },
	run: async (args, { services }) => {
		const [user] = await services.directory.users([args.user_id]);
		if (!user) throw new Refusal('user_not_found', 'user_id: no such user');
		if (user.deleted) throw new Refusal('user_disabled', 'user_id: the user is deactivated');
		const token = newToken(user.isBot, services.random);
		await services.directory.createToken({
			hash: tokenKey(token),
			user: user.id,
			team: user.team,
			createdTs: services.clock.next(),
			revokedTs: null,
		});
		return { token, user_id: user.id, team_id: user.team };
	},
});

/** A JWT cannot be taken out of the world: that it was revoked is what is stored of it. */
export const adminTokensRevoke = adminMethod({
	arguments: { token: type.secret },
	run: async ({ token }, { services }) => {
		const { directory, auth, bus, clock } = services;
		const hash = tokenKey(token);
		const holder = await auth.holderOf(token);
		if (!holder) throw new Refusal('token_not_found', 'token: no such token');
		if (looksLikeJwt(token) && !(await directory.token(hash)))
			await directory.createToken({
				hash,
				user: holder.user,
				team: holder.team,
				createdTs: clock.next(),
				revokedTs: null,
			});
		await directory.revokeToken(hash, clock.next());
		auth.forget(hash);
		tellRevoked(bus, hash, holder.user);
		return { revoked: true };
	},
});
