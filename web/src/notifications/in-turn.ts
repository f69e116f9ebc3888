/**
 * Shows and lists notifications one after the other, across the service worker and all pages: Chromium loses a notification that
 * is being shown while another call lists them (docs/adr/0023-web-push.md).
 */
export const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
	navigator.locks.request('tidemark.notifications', work) as Promise<T>;
