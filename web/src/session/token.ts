/**
 * The token of the signed-in user. A link may contain one in its fragment, which browsers never send; it is removed from the
 * address bar at once. It is stored for this tab, so that two tabs may be two users, and as the last one used for new tabs.
 */

const KEY = 'tidemark.token';

/** Reads `#token=…` from the address and removes it. */
export function takeFromLink(names: readonly string[]): Readonly<Record<string, string>> {
	const fragment = new URLSearchParams(location.hash.slice(1));
	const taken: Record<string, string> = {};
	for (const name of names) {
		const value = fragment.get(name);
		if (value) taken[name] = value;
	}
	if (Object.keys(taken).length > 0) history.replaceState(null, '', location.pathname + location.search);
	return taken;
}

/** A link that is opened in an open page changes only the fragment: the page reloads with it. */
export const followLinks = (names: readonly string[]): void =>
	addEventListener('hashchange', () => {
		const fragment = new URLSearchParams(location.hash.slice(1));
		if (names.some((name) => fragment.has(name))) location.reload();
	});

export const keptToken = (): string | null => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);

export function keepToken(token: string): void {
	sessionStorage.setItem(KEY, token);
	localStorage.setItem(KEY, token);
}

export function forgetToken(): void {
	const token = sessionStorage.getItem(KEY);
	sessionStorage.removeItem(KEY);
	if (localStorage.getItem(KEY) === token) localStorage.removeItem(KEY);
}
