import type { Page, User } from '../../../engine/ports/store.ts';
import { Refusal } from '../../../model/errors.ts';
import { SLACKBOT_ID } from '../../../model/ids.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { slackbotOf } from '../../../protocol/slackbot.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { wallMicros } from '../wall-time.ts';

const LOCALE = { locale: 'en-US' };

/** As the store has it: of the caller, more may have changed than who it is. A deactivated user can still be looked at. */
export async function userOf({ services, caller }: UserCall, id: string): Promise<User> {
	if (id === SLACKBOT_ID) return slackbotOf(caller.team);
	const [user] = await services.directory.users([id]);
	if (!user || user.team !== caller.team) throw new Refusal('user_not_found', 'user: no such user');
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
		const page = withSlackbot(stored, caller.team, after, args.limit);
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

/** Slackbot is not stored: it is put in its place, in the order of ids, and the page stays as long as it may be. */
export function withSlackbot(
	page: Page<User>,
	team: string,
	after: string | null,
	limit: number,
): Page<User> {
	const { items, next } = page;
	const isHere = (after ?? '') < SLACKBOT_ID && (next === null || SLACKBOT_ID < next);
	if (!isHere) return page;
	const before = items.filter(({ id }) => id < SLACKBOT_ID);
	const all = [...before, slackbotOf(team), ...items.slice(before.length)];
	const shown = all.slice(0, limit);
	return { items: shown, next: all.length > limit || next !== null ? (shown.at(-1)?.id ?? null) : null };
}

export const usersLookupByEmail = userMethod({
	arguments: { email: type.text({ max: 255, takesEmpty: false }) },
	run: async ({ email }, { services, caller }) => {
		const user = await services.directory.userWithEmail(caller.team, email);
		if (!user) throw new Refusal('users_not_found', 'email: no active user has it');
		return { user: wireUser(user, wallMicros()) };
	},
});

export const usersGetPresence = userMethod({
	arguments: { user: optional(type.user) },
	run: async (args, call) => {
		const user = await userOf(call, args.user ?? call.caller.user.id);
		const { active, away, connections } = await call.services.sessions.presence(user.id);
		const presence = active ? 'active' : 'away';
		if (user.id !== call.caller.user.id) return { presence };
		return {
			presence,
			online: active,
			// Inactivity does not set a user to away: only disconnecting or their own choice does.
			auto_away: false,
			manual_away: away,
			connection_count: connections,
			// A connection that gives no sign of life is closed: one that is open was alive just now.
			...(connections > 0 ? { last_activity: Math.floor(wallMicros() / 1e6) } : {}),
		};
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
