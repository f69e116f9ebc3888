import { isTokenRejected } from '@tidemark/client';

/**
 * The token of the signed-in user. A link may contain a token in its fragment, which browsers never send; the page removes it from the
 * address bar at once. The token is stored for this tab, so that two tabs can be two users, and in the browser for new tabs.
 */

const KEY = 'tidemark.token';

/**
 * After one of these errors, a token that worked before has expired or was revoked. `rtm.connect` answers
 * `invalid_auth` in both cases.
 */
const OUTDATED = new Set(['invalid_auth', 'token_expired', 'token_revoked']);

/** Why the user is signed out after the client stopped for this reason; null if the token still works. */
export function signOutReason(reason: string, hasWorked: boolean): string | null {
	if (reason !== 'signed_out' && !isTokenRejected(reason)) return null;
	return hasWorked && OUTDATED.has(reason) ? 'session_ended' : reason;
}

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

/** Reloads the page when the user opens a link in it: the link changes only the fragment, and is read only when the page loads. */
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
