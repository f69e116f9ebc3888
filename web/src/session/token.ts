/**
 * The token of the signed-in user. A link may contain a token in its fragment, which browsers never send; the page removes it from the
 * address bar at once. The token is stored for this tab, so that two tabs can be two users, and in the browser for new tabs.
 */

const KEY = 'tidemark.token';

/** Reads the named values (`#token=…`) from the address and removes them. */
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

/** A link that is opened in a loaded page changes only the fragment: reloads the page, so that the link is handled. */
export const followLinks = (names: readonly string[]): void =>
	addEventListener('hashchange', () => {
		const fragment = new URLSearchParams(location.hash.slice(1));
		if (names.some((name) => fragment.has(name))) location.reload();
	});

export const storedToken = (): string | null => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);

export function storeToken(token: string): void {
	sessionStorage.setItem(KEY, token);
	localStorage.setItem(KEY, token);
}

/** Other tabs may be signed in with another token, which stays. */
export function clearToken(token: string | null): void {
	sessionStorage.removeItem(KEY);
	if (localStorage.getItem(KEY) === token) localStorage.removeItem(KEY);
}
