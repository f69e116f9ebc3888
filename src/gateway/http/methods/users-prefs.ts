import type { MemberState } from '../../../engine/ports/read-state.ts';
import { Rejection } from '../../../model/errors.ts';
import { storable } from '../../../model/text.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';

/**
 * Preferences of the caller, shared by all devices. The server stores names and values without interpreting them. A
 * few of Slack's names are read-only: they are derived from the conversations, or constant.
 */

const NAME = /^[A-Za-z0-9_.:-]{1,80}$/;
const MAX_VALUE_LENGTH = 2000;
const MAX_PREFERENCES = 1000;

/** The read-only preferences, among them the notification settings of conversations in Slack's format. */
function derivedOf(memberships: readonly MemberState[]): Readonly<Record<string, string>> {
	const LOUDNESS = { all: 'everything', mentions: 'mentions_dms', none: 'nothing' } as const;
	const channels: Record<string, JsonObject> = {};
	for (const { conversation, muted, level } of memberships)
		if (muted || level !== 'all')
			channels[conversation] = { muted, desktop: LOUDNESS[level], mobile: LOUDNESS[level] };
	const muted = memberships.filter((member) => member.muted).map(({ conversation }) => conversation);
	return {
		muted_channels: muted.join(','),
		all_notifications_prefs: JSON.stringify({ channels, global: { global_keywords: '' } }),
		highlight_words: '',
		tz: 'Etc/UTC',
	};
}

const DERIVED: ReadonlySet<string> = new Set(Object.keys(derivedOf([])));

export async function prefsOf({ services, caller }: UserCall): Promise<JsonObject> {
	const [memberships, stored] = await Promise.all([
		services.readState.memberships(caller.user.id),
		services.directory.preferences(caller.user.id),
	]);
	return { ...Object.fromEntries(stored), ...derivedOf(memberships) };
}

export const usersPrefsGet = userMethod({
	arguments: {},
	run: async (_args, call) => ({ prefs: await prefsOf(call) }),
});

export const usersPrefsSet = userMethod({
	arguments: {
		name: optional(type.text()),
		value: optional(type.text()),
		prefs: type.object('invalid_arguments'),
	},
	run: async (args, call) => {
		const { services, caller } = call;
		const requested = requestedOf(
			args.prefs ?? (args.name === undefined ? {} : { [args.name]: args.value ?? '' }),
		);
		const stored = await services.directory.preferences(caller.user.id);
		const added = requested.filter(([name, value]) => value !== '' && !stored.has(name)).length;
		if (added > 0 && stored.size + added > MAX_PREFERENCES)
			throw new Rejection('too_many_prefs', `prefs: a user may have at most ${MAX_PREFERENCES} preferences`);
		for (const [name, value] of requested) {
			await services.directory.setPreference(caller.user.id, name, value);
			const frame = JSON.stringify({ type: 'pref_change', name, value });
			services.bus.publish(`user:${caller.user.id}`, { type: 'event', frame });
		}
		return { prefs: await prefsOf(call) };
	},
});

function requestedOf(given: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
	const requested = Object.entries(given).map(([name, value]) => [name, checked(name, value)] as const);
	if (requested.length === 0)
		throw new Rejection('missing_argument', 'name or prefs: one of them is required');
	return requested;
}

function checked(name: string, value: unknown): string {
	if (!NAME.test(name))
		throw new Rejection('invalid_arguments', 'name: use up to 80 letters, digits and any of _ . : -');
	if (DERIVED.has(name)) throw new Rejection('invalid_arguments', `name: ${name} is read-only`);
	const text = typeof value === 'boolean' || typeof value === 'number' ? String(value) : value;
	if (typeof text !== 'string' || text.length > MAX_VALUE_LENGTH)
		throw new Rejection('invalid_arguments', `value: must be a text of up to ${MAX_VALUE_LENGTH} characters`);
	return storable(text);
}
