import type { TidemarkClient } from '@tidemark/client';
import { useClient, useConnection } from '@tidemark/client/react';
import { useEffect, useSyncExternalStore } from 'react';
import { useSelf } from './names.ts';
import { toastResult } from './toast.tsx';

/**
 * The user's favourite conversations, and the folded sections of the sidebar. The server stores both as preferences, so that they are
 * the same on every device. The browser stores a copy, to render the sidebar before the server has answered.
 */

const FAVOURITE = 'favourite.';
const FOLDED = 'folded.';
const NONE: ReadonlySet<string> = new Set();

interface SidebarState {
	readonly user: string;
	readonly favourites: ReadonlySet<string>;
	readonly folded: ReadonlySet<string>;
}

let current: SidebarState = { user: '', favourites: NONE, folded: NONE };
/** Changes that the server has not acknowledged yet: an older answer of the server must not undo them. */
const unconfirmed = new Map<string, string>();
const listeners = new Set<() => void>();

const copyKey = (user: string): string => `tidemark.sidebar.${user}`;

function ofUser(user: string): SidebarState {
	if (current.user === user || user === '') return current;
	const names = (localStorage.getItem(copyKey(user)) ?? '').split(' ').filter(Boolean);
	current = { user, ...setsOf(names) };
	return current;
}

const setsOf = (names: readonly string[]): Omit<SidebarState, 'user'> => ({
	favourites: startingWith(FAVOURITE, names),
	folded: startingWith(FOLDED, names),
});

const startingWith = (start: string, names: readonly string[]): ReadonlySet<string> =>
	new Set(names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length)));

const namesIn = ({ favourites, folded }: SidebarState): string[] => [
	...[...favourites].map((id) => FAVOURITE + id),
	...[...folded].map((heading) => FOLDED + heading),
];

function replaceState(user: string, names: readonly string[]): void {
	current = { user, ...setsOf(names) };
	localStorage.setItem(copyKey(user), namesIn(current).join(' '));
	for (const listener of listeners) listener();
}

function apply(user: string, changes: Iterable<readonly [name: string, value: string]>): void {
	const names = new Set(namesIn(ofUser(user)));
	for (const [name, value] of changes) value === '' ? names.delete(name) : names.add(name);
	replaceState(user, [...names]);
}

async function load(client: TidemarkClient, user: string): Promise<void> {
	const { prefs } = await client.call<{ prefs: Readonly<Record<string, string>> }>('users.prefs.get');
	replaceState(user, Object.keys(prefs));
	apply(user, unconfirmed);
}

async function set(client: TidemarkClient, user: string, name: string, isOn: boolean): Promise<void> {
	const value = isOn ? '1' : '';
	unconfirmed.set(name, value);
	apply(user, [[name, value]]);
	try {
		await client.call('users.prefs.set', { name, value });
	} catch (error) {
		if (unconfirmed.get(name) === value) apply(user, [[name, isOn ? '' : '1']]);
		throw error;
	} finally {
		if (unconfirmed.get(name) === value) unconfirmed.delete(name);
	}
}

/** Loads the preferences after each connect: a resume does not bring changes that other devices made meanwhile. */
export function useSyncedSidebar(): void {
	const client = useClient();
	const self = useSelf();
	const isOnline = useConnection().status === 'online';
	useEffect(() => {
		if (self && isOnline) void load(client, self).catch(() => undefined);
	}, [client, self, isOnline]);
	useEffect(
		() =>
			client.onEvent(({ type, name, value }) => {
				if (self && type === 'pref_change' && !unconfirmed.has(name)) apply(self, [[name, value]]);
			}),
		[client, self],
	);
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const useFavourites = (user: string): ReadonlySet<string> =>
	useSyncExternalStore(subscribe, () => ofUser(user).favourites);
export const setFavourite = (
	client: TidemarkClient,
	user: string,
	conversation: string,
	isFavourite: boolean,
): void => toastResult(set(client, user, FAVOURITE + conversation, isFavourite));

export const useFolded = (user: string): ReadonlySet<string> =>
	useSyncExternalStore(subscribe, () => ofUser(user).folded);

/** The name of a section in a preference: its heading with hyphens, because names of preferences cannot have spaces. */
const sectionOf = (heading: string): string => heading.replaceAll(' ', '-');
export const setFolded = (client: TidemarkClient, user: string, heading: string, isFolded: boolean): void =>
	toastResult(set(client, user, FOLDED + sectionOf(heading), isFolded));
export const isFolded = (folded: ReadonlySet<string>, heading: string): boolean =>
	folded.has(sectionOf(heading));
