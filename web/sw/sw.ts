import { inTurn } from '../src/notifications/in-turn.ts';
import { addressOf, type PushedMessage, type PushedWithdrawal, parsePushed } from './pushed.ts';

/**
 * The service worker: what of the interface is there while no page is. It shows and withdraws notifications; pages come
 * from the server as ever, nothing is kept here.
 */

declare const self: ServiceWorkerGlobalScope;

/** What Chrome shows by itself when it finds that pushes showed too little; the next one removes it. */
const FORCED_TAG = 'user_visible_auto_notification';

// A new one takes over at once: it has nothing in common with the one before that could break.
self.addEventListener('install', () => void self.skipWaiting());

self.addEventListener('push', (event) => {
	const pushed = parsePushed(event.data?.text() ?? '');
	if (!pushed) return;
	event.waitUntil(
		inTurn(async () => {
			await (pushed.type === 'message' ? show(pushed) : withdraw(pushed));
			await setBadge(pushed.badge);
		}),
	);
});

self.addEventListener('notificationclick', (event) => {
	event.notification.close();
	// That of Chrome's own has none.
	const message = event.notification.data as PushedMessage | null;
	event.waitUntil(lead(message && addressOf(message)));
});

async function show(message: PushedMessage): Promise<void> {
	const { title, body, tag } = message;
	await self.registration.showNotification(title, { body, tag, data: message });
}

async function withdraw({ tags }: PushedWithdrawal): Promise<void> {
	for (const notification of await self.registration.getNotifications())
		if (tags.includes(notification.tag) || notification.tag === FORCED_TAG) notification.close();
}

/** Installed pages have one; others refuse it, or do not know it. */
async function setBadge(badge: number): Promise<void> {
	try {
		await self.navigator.setAppBadge?.(badge);
	} catch {
		// Nobody misses it.
	}
}

/** To a page that is open, of those the one in front; to a new one otherwise. Null: wherever it is. */
async function lead(address: string | null): Promise<void> {
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
	// Where the browser does not let us, it is led there in the background.
	await page.focus().catch(() => undefined);
}
