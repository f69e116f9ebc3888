import type { MemberView } from '../../../engine/ports/read-state.ts';
import { Refusal } from '../../../model/errors.ts';
import { storable } from '../../../model/text.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { type UserCall, userMethod } from '../method.ts';

/**
 * Preferences of the caller, the same on every device. The server keeps names and values without a meaning to it; a few of
 * Slack's names are derived from the conversations, and are read only.
 */

const NAME = /^[A-Za-z0-9_.:-]{1,80}$/;
const LONGEST_VALUE = 2000;
const MOST = 1000;

/** How loud each conversation is, in the words of Slack's preferences. */
function derivedOf(memberships: readonly MemberView[]): Readonly<Record<string, string>> {
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
		const asked = askedOf(args.prefs ?? (args.name === undefined ? {} : { [args.name]: args.value ?? '' }));
		const stored = await services.directory.preferences(caller.user.id);
		const added = asked.filter(([name, value]) => value !== '' && !stored.has(name)).length;
		if (added > 0 && stored.size + added > MOST)
			throw new Refusal('too_many_prefs', `prefs: at most ${MOST} of a user`);
		for (const [name, value] of asked) {
			await services.directory.setPreference(caller.user.id, name, value);
			const frame = JSON.stringify({ type: 'pref_change', name, value });
			services.bus.publish(`user:${caller.user.id}`, { type: 'event', frame });
		}
		return { prefs: await prefsOf(call) };
	},
});

function askedOf(given: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
	const asked = Object.entries(given).map(([name, value]) => [name, checked(name, value)] as const);
	if (asked.length === 0) throw new Refusal('missing_argument', 'name: required, or prefs');
	return asked;
}

function checked(name: string, value: unknown): string {
	if (!NAME.test(name))
		throw new Refusal('invalid_arguments', 'name: up to 80 letters, digits and any of _ . : -');
	if (DERIVED.has(name)) throw new Refusal('invalid_arguments', `name: ${name} can only be read`);
	const text = typeof value === 'boolean' || typeof value === 'number' ? String(value) : value;
	if (typeof text !== 'string' || text.length > LONGEST_VALUE)
		throw new Refusal('invalid_arguments', `value: a text of up to ${LONGEST_VALUE} characters`);
	return storable(text);
}
