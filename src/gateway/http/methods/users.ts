import type { User } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import { SLACKBOT_ID } from '../../../model/ids.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { slackbotOf } from '../../../protocol/slackbot.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod, wallMicros } from '../method.ts';
import { nextCursor, withUnstored } from '../paging.ts';

const LOCALE = { locale: 'en-US' };

/** Reads the user from the store: the cached caller may be outdated. Returns deactivated users too. */
export async function userOf({ services, caller }: UserCall, id: string): Promise<User> {
	if (id === SLACKBOT_ID) return slackbotOf(caller.team);
	const [user] = await services.directory.users([id]);
	if (!user || user.team !== caller.team) throw new Rejection('user_not_found', 'user: no such user');
	return user;
}

export const usersInfo = userMethod({
	arguments: { user: type.user, include_locale: type.flag },
	run: async (args, call) => {
		const user = wireUser(await userOf(call, args.user), wallMicros());
		return { user: args.include_locale ? { ...user, ...LOCALE } : user };
	},
});

export const usersList = userMethod({
	arguments: { limit: type.limit(type.MAX_PAGE), cursor: type.cursor('after'), include_locale: type.flag },
	ignored: ['presence'],
	run: async (args, { services, caller }) => {
		const after = args.cursor ?? null;
		const stored = await services.directory.usersOf(caller.team, after, args.limit);
		const page = withUnstored(slackbotOf(caller.team), stored, after, args.limit);
		const at = wallMicros();
		return {
			members: page.items.map((user) =>
				args.include_locale ? { ...wireUser(user, at), ...LOCALE } : wireUser(user, at),
			),
			cache_ts: Math.floor(services.clock.last() / 1e6),
			...nextCursor('after', page.next),
		};
	},
});

export const usersLookupByEmail = userMethod({
	arguments: { email: type.text({ max: 255, takesEmpty: false }) },
	run: async ({ email }, { services, caller }) => {
		const user = await services.directory.userWithEmail(caller.team, email);
		if (!user)
			throw new Rejection('users_not_found', 'email: no user has this address, or the user is deactivated');
		return { user: wireUser(user, wallMicros()) };
	},
});

export const usersGetPresence = userMethod({
	arguments: { user: optional(type.user) },
	run: async (args, call) => {
		const user = await userOf(call, args.user ?? call.caller.user.id);
		const { active, away, connections } = await call.services.presence.presence(user.id);
		const presence = active ? 'active' : 'away';
		if (user.id !== call.caller.user.id) return { presence };
		return {
			presence,
			online: active,
			// The server never changes presence because of inactivity: only a disconnect or the user does.
			auto_away: false,
			manual_away: away,
			connection_count: connections,
			// The heartbeat closes dead connections: an open one was active just now.
			...(connections > 0 ? { last_activity: Math.floor(wallMicros() / 1e6) } : {}),
		};
	},
});

export const usersSetPresence = userMethod({
	arguments: {
		presence: type.oneOf(['auto', 'away'], { bad: 'invalid_presence', missing: 'invalid_presence' }),
	},
	run: async (args, { services, caller }) => {
		await services.presence.setAway(caller.user.id, args.presence === 'away');
		return {};
	},
});
