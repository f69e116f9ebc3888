/**
 * Runs `work` while no other page and no service worker shows or lists notifications. Without the lock, Chromium loses a notification
 * that is being shown while another call lists them (docs/adr/0023-web-push.md).
 */
export const withNotificationLock = <T>(work: () => Promise<T>): Promise<T> =>
	navigator.locks.request('tidemark.notifications', work) as Promise<T>;
