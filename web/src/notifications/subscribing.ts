import { ApiError, type TidemarkClient } from '@tidemark/client';
import { withNotificationLock } from './notification-lock.ts';
import { type NotificationState, notificationStateOf } from './notification-state.ts';

/**
 * Registers this browser as a device of the signed-in user. A browser has one push subscription, so it notifies only the user who
 * turned notifications on last. The browser stores that user's id, and restores a lost subscription when the user returns.
 */

const TURNED_ON_BY = 'tidemark.notified';
const WORKER = '/sw.js';
const SIGN_OUT_TIMEOUT_MS = 3_000;

const selfOf = (client: TidemarkClient): string => client.getSnapshot().self?.id ?? '';
const isTurnedOn = (client: TidemarkClient): boolean => localStorage.getItem(TURNED_ON_BY) === selfOf(client);

export function notificationState(client: TidemarkClient): NotificationState {
	const isSupported =
		'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
	return notificationStateOf({
		isSecure: isSecureContext,
		isSupported,
		permission: isSupported ? Notification.permission : 'default',
		isTurnedOn: isTurnedOn(client),
	});
}

export const isWebPushOff = (error: unknown): boolean =>
	error instanceof ApiError && error.code === 'web_push_off';

/** Asks for the browser's permission first, which is possible only while a click is handled. Rejects if it cannot register the browser. */
export async function turnOn(client: TidemarkClient): Promise<NotificationState> {
	if ((await Notification.requestPermission()) !== 'granted') return notificationState(client);
	try {
		await register(client);
	} catch (error) {
		if (isWebPushOff(error)) return 'disabled';
		throw error;
	}
	localStorage.setItem(TURNED_ON_BY, selfOf(client));
	return notificationState(client);
}

export async function turnOff(client: TidemarkClient): Promise<NotificationState> {
	localStorage.removeItem(TURNED_ON_BY);
	const registration = await navigator.serviceWorker.getRegistration('/');
	const subscription = await registration?.pushManager.getSubscription();
	if (registration && subscription) {
		// If this call fails, the push service rejects the server's next notification, and the server removes the device.
		await client.call('push.devices.remove', deviceOf(subscription)).catch(() => undefined);
		await subscription.unsubscribe();
		const shown = await withNotificationLock(() => registration.getNotifications());
		for (const notification of shown) notification.close();
	}
	await navigator.clearAppBadge?.().catch(() => undefined);
	return notificationState(client);
}

/** Restores a subscription that the browser or the server has lost. Call it when the user returns. */
export async function renewSubscription(client: TidemarkClient): Promise<void> {
	// If this fails, the next visit retries.
	if (notificationState(client) === 'on') await register(client).catch(() => undefined);
}

/** Call it before the user signs out. Waits only a short time for the server. */
export async function unsubscribeBeforeSignOut(client: TidemarkClient): Promise<void> {
	if (!isTurnedOn(client)) return;
	const timeout = new Promise((resolve) => setTimeout(resolve, SIGN_OUT_TIMEOUT_MS));
	await Promise.race([turnOff(client).catch(() => undefined), timeout]);
}

async function register(client: TidemarkClient): Promise<void> {
	const { key } = await client.call<{ key: string }>('push.webKey');
	await navigator.serviceWorker.register(WORKER);
	const { pushManager } = await navigator.serviceWorker.ready;
	const subscription = await subscribe(pushManager, key);
	await client.call('push.devices.add', deviceOf(subscription));
}

/** A subscription is bound to the server's key. If the key has changed, the subscription is created again. */
async function subscribe(pushManager: PushManager, key: string): Promise<PushSubscription> {
	const present = await pushManager.getSubscription();
	if (present && keyOf(present) === key) return present;
	await present?.unsubscribe();
	return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

function keyOf({ options }: PushSubscription): string {
	const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
	return btoa(String.fromCharCode(...bytes))
		.replaceAll('+', '-')
		.replaceAll('/', '_')
		.replace(/=+$/, '');
}

const deviceOf = (subscription: PushSubscription) => ({
	platform: 'web',
	token: JSON.stringify(subscription),
});
