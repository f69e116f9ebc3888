import { withNotificationLock } from '../src/notifications/notification-lock.ts';
import { addressOf, type PushedMessage, type PushedWithdrawal, parsePushed } from './pushed.ts';

/**
 * The service worker, which also runs while no page is open. It shows and withdraws notifications; it caches
 * no pages.
 */

declare const self: ServiceWorkerGlobalScope;

/** Chrome shows this notification by itself after pushes that showed none. The next withdrawal closes it. */
const FORCED_TAG = 'user_visible_auto_notification';

// A new version takes over at once: it shares no state with the old one.
self.addEventListener('install', () => void self.skipWaiting());

self.addEventListener('push', (event) => {
	const pushed = parsePushed(event.data?.text() ?? '');
	if (!pushed) return;
	event.waitUntil(
		withNotificationLock(async () => {
			await (pushed.type === 'message' ? show(pushed) : withdraw(pushed));
			await setBadge(pushed.badge);
		}),
	);
});

self.addEventListener('notificationclick', (event) => {
	event.notification.close();
	// Chrome's own notification has no data.
	const message = event.notification.data as PushedMessage | null;
	event.waitUntil(openAddress(message && addressOf(message)));
});

async function show(message: PushedMessage): Promise<void> {
	const { title, body, tag } = message;
	await self.registration.showNotification(title, { body, tag, data: message });
}

async function withdraw({ tags }: PushedWithdrawal): Promise<void> {
	for (const notification of await self.registration.getNotifications())
		if (tags.includes(notification.tag) || notification.tag === FORCED_TAG) notification.close();
}

/** Only an installed page has a badge on its icon; otherwise the call fails or does not exist. */
async function setBadge(badge: number): Promise<void> {
	try {
		await self.navigator.setAppBadge?.(badge);
	} catch {
		// Without a badge there is nothing to do.
	}
}

/** Opens the address in an open page, preferably a visible one, or in a new page. Null: only focuses or opens a page. */
async function openAddress(address: string | null): Promise<void> {
	const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
	const pages = windows.filter(
		({ url, frameType }) => frameType === 'top-level' && new URL(url).pathname === '/',
	);
	const page = pages.find(({ visibilityState }) => visibilityState === 'visible') ?? pages[0];
	if (!page) {
		await self.clients.openWindow(`/${address ?? ''}`);
		return;
	}
	if (address) page.postMessage({ type: 'open', address });
	// If the browser does not allow the focus, the page opens the address in the background.
	await page.focus().catch(() => undefined);
}
