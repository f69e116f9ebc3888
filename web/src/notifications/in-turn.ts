/**
 * Showing notifications and asking for those that are shown, one after the other, in the service worker and in every page:
 * Chromium forgets what is about to be shown while somebody asks (docs/adr/0023-web-push.md).
 */
export const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
	navigator.locks.request('tidemark.notifications', work) as Promise<T>;
