import type { Profile } from '../../../engine/ports/store.ts';
import { Rejection } from '../../../model/errors.ts';
import { storable } from '../../../model/text.ts';
import { wireProfile } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod, wallMicros } from '../method.ts';
import { publishUserChange } from '../publish-changes.ts';
import { userOf } from './users.ts';

/** Profiles of users, above all their status. Every user of the workspace sees them. */

export const usersProfileGet = userMethod({
	arguments: { user: optional(type.user) },
	ignored: ['include_labels'],
	run: async (args, call) => {
		const user = await userOf(call, args.user ?? call.caller.user.id);
		return { profile: wireProfile(user, wallMicros()) };
	},
});

/** 100 is Slack's limit for a status; the others are similar. */
const MAX_LENGTHS: Readonly<Record<Exclude<keyof Profile, 'status_expiration' | 'photo'>, number>> = {
	status_text: 100,
	status_emoji: 100,
	display_name: 80,
	title: 255,
	phone: 255,
	pronouns: 80,
};
const MAX_NAME_LENGTH = 255;

/**
 * Sets the caller's own profile. Slack's other fields are accepted without effect; only the administrator sets an
 * e-mail address.
 */
export const usersProfileSet = userMethod({
	arguments: {
		profile: type.object('invalid_profile'),
		name: optional(type.text({ max: 80 })),
		value: optional(type.text({ max: MAX_NAME_LENGTH })),
		user: optional(type.user),
	},
	run: async (args, call) => {
		const { services, caller } = call;
		if (args.user !== undefined && args.user !== caller.user.id)
			throw new Rejection('no_permission', 'user: you can set only your own profile');
		const given = args.profile ?? (args.name === undefined ? null : { [args.name]: args.value ?? '' });
		if (given === null)
			throw new Rejection('invalid_profile', 'profile, or name and value: one of them is required');
		const user = await userOf(call, caller.user.id);
		const realName = textOf(given.real_name, 'real_name', MAX_NAME_LENGTH)?.trim() || user.realName;
		const profile = { ...user.profile, ...changesOf(given) };
		await services.directory.setProfile(user.id, profile, realName, services.clock.next());
		return publishChange(call);
	},
});

async function publishChange(call: UserCall) {
	const user = await userOf(call, call.caller.user.id);
	publishUserChange(call.services, user);
	return { username: user.name, profile: wireProfile(user, wallMicros()) };
}

function changesOf(given: Readonly<Record<string, unknown>>): Profile {
	const changes: Record<string, string | number> = {};
	for (const [name, longest] of Object.entries(MAX_LENGTHS)) {
		const text = textOf(given[name], name, longest);
		if (text !== undefined) changes[name] = text;
	}
	const expiration = given.status_expiration;
	if (expiration !== undefined && expiration !== null) changes.status_expiration = secondsOf(expiration);
	// A new status without an expiry must not inherit that of the previous one.
	else if (changes.status_text !== undefined || changes.status_emoji !== undefined)
		changes.status_expiration = 0;
	return changes;
}

function textOf(value: unknown, name: string, longest: number): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value !== 'string') throw new Rejection('invalid_profile', `profile: ${name} must be a text`);
	if (value.length > longest)
		throw new Rejection('too_long', `profile: ${name} may have at most ${longest} characters`);
	return storable(value);
}

function secondsOf(value: unknown): number {
	const seconds = type.count.parse(value, 'status_expiration');
	if (seconds === undefined)
		throw new Rejection('invalid_profile', 'profile: status_expiration must be a time in seconds');
	return seconds;
}
