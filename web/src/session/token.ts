/**
 * The token of the user who is signed in. A link may bring one in its fragment, which browsers never send; it leaves the address
 * bar at once. It is kept for this tab, so that two tabs may be two people, and as the last one used for new tabs.
 */

const KEY = 'tidemark.token';

/** Reads and removes what the link brought: `#token=…`. */
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

/** A link that is opened in a page of ours changes the fragment alone: the page starts over with it. */
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
