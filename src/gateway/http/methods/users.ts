import { Refusal } from '../../../model/errors.ts';
import { wireUser } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';

const LOCALE = { locale: 'en-US' };

/** A deactivated user can still be looked at. */
export async function userOf({ services, caller }: UserCall, id: string) {
	const [user] = id === caller.user.id ? [caller.user] : await services.directory.users([id]);
	if (!user || user.team !== caller.team) throw new Refusal('user_not_found', 'user: no such user');
	return user;
}

export const usersInfo = userMethod({
	arguments: { user: type.user, include_locale: type.flag },
	run: async (args, call) => {
		const user = wireUser(await userOf(call, args.user));
		return { user: args.include_locale ? { ...user, ...LOCALE } : user };
	},
});

export const usersList = userMethod({
	arguments: { limit: type.limit(type.MAX_PAGE), cursor: type.cursor('after'), include_locale: type.flag },
	ignored: ['presence'],
	run: async (args, { services, caller }) => {
		const page = await services.directory.usersOf(caller.team, args.cursor ?? null, args.limit);
		return {
			members: page.items.map((user) =>
				args.include_locale ? { ...wireUser(user), ...LOCALE } : wireUser(user),
			),
			cache_ts: Math.floor(services.clock.last() / 1e6),
			...nextCursor('after', page.next),
		};
	},
});

export const usersGetPresence = userMethod({
	arguments: { user: optional(type.user) },
	run: async (args, call) => {
		const user = await userOf(call, args.user ?? call.caller.user.id);
		const active = await call.services.sessions.isActive(user.id);
		const presence = active ? 'active' : 'away';
		return user.id === call.caller.user.id ? { presence, online: active } : { presence };
	},
});

export const usersSetPresence = userMethod({
	arguments: {
		presence: type.oneOf(['auto', 'away'], { bad: 'invalid_presence', missing: 'invalid_presence' }),
	},
	run: async (args, { services, caller }) => {
		await services.sessions.setAway(caller.user.id, args.presence === 'away');
		return {};
	},
});
