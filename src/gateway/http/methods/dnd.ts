import type { User } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional, required } from '../arguments.ts';
import { type UserCall, userMethod, wallMicros } from '../method.ts';
import { userOf } from './users.ts';

/**
 * Do not disturb: while a user has notifications snoozed, nothing is pushed to their devices. There are no
 * recurring hours. Counts and badges do not change.
 */

const MAX_MINUTES = 60 * 24 * 366;
const MAX_USERS = 50;
/** Slack's value for "nothing planned". */
const NEVER = 1;

/** The part that every user may see. */
function wireDnd(user: User, at: number): JsonObject {
	const isSnoozed = user.snoozedUntilTs > at;
	return {
		dnd_enabled: isSnoozed,
		next_dnd_start_ts: isSnoozed ? Math.floor(at / 1e6) : NEVER,
		next_dnd_end_ts: isSnoozed ? Math.floor(user.snoozedUntilTs / 1e6) : NEVER,
	};
}

function wireSnooze(user: User, at: number): JsonObject {
	if (user.snoozedUntilTs <= at) return { snooze_enabled: false };
	const seconds = Math.floor(user.snoozedUntilTs / 1e6);
	return {
		snooze_enabled: true,
		snooze_endtime: seconds,
		snooze_remaining: seconds - Math.floor(at / 1e6),
		snooze_is_indefinite: false,
	};
}

export const dndInfo = userMethod({
	arguments: { user: optional(type.user) },
	run: async (args, call) => {
		const user = await userOf(call, args.user ?? call.caller.user.id);
		const at = wallMicros();
		return { ...wireDnd(user, at), ...(user.id === call.caller.user.id ? wireSnooze(user, at) : {}) };
	},
});

export const dndTeamInfo = userMethod({
	arguments: { users: type.users('missing_argument') },
	run: async (args, { services, caller }) => {
		if (args.users.length > MAX_USERS)
			throw new Rejection('too_many_users', `users: at most ${MAX_USERS} per call`);
		const users = await usersOf(services, caller.team, args.users, 'users');
		const at = wallMicros();
		return { users: Object.fromEntries(users.map((user) => [user.id, wireDnd(user, at)])) };
	},
});

const minutes = required<number>({
	expects: `minutes, a whole number from 1 to ${MAX_MINUTES}`,
	parse: (value) => {
		const found = type.count.parse(value, 'num_minutes');
		return found !== undefined && found >= 1 && found <= MAX_MINUTES ? found : undefined;
	},
});

export const dndSetSnooze = userMethod({
	arguments: { num_minutes: minutes },
	run: async (args, call) => setSnooze(call, wallMicros() + args.num_minutes * 60e6, wireSnooze),
});

export const dndEndSnooze = userMethod({
	arguments: {},
	run: async (_args, call) =>
		setSnooze(call, 0, (user, at) => ({ ...wireDnd(user, at), ...wireSnooze(user, at) })),
});

export const dndEndDnd = userMethod({
	arguments: {},
	run: async (_args, call) => setSnooze(call, 0, () => ({})),
});

async function setSnooze(
	call: UserCall,
	until: number,
	answer: (user: User, at: number) => JsonObject,
): Promise<JsonObject> {
	const { services, caller } = call;
	await services.directory.snooze(caller.user.id, until);
	const user = await userOf(call, caller.user.id);
	const at = wallMicros();
	const publish = (key: `user:${string}` | `team:${string}`, event: JsonObject) =>
		services.bus.publish(key, { type: 'event', frame: JSON.stringify(event) });
	const shared = { user: user.id, dnd_status: wireDnd(user, at) };
	publish(`user:${user.id}`, {
		type: 'dnd_updated',
		user: user.id,
		dnd_status: { ...wireDnd(user, at), ...wireSnooze(user, at) },
	});
	publish(`team:${user.team}`, { type: 'dnd_updated_user', ...shared });
	return answer(user, at);
}
