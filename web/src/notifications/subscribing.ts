import { ApiError, type TidemarkClient } from '@tidemark/client';
import { inTurn } from './in-turn.ts';
import { type NotificationState, notificationStateOf } from './notification-state.ts';

/**
 * Registers this browser as a device of the signed-in user. A browser has one subscription, so it belongs to the user who turned
 * notifications on last. That user is stored, so that a lost subscription is created again when they return.
 */

const WISH = 'tidemark.notified';
const WORKER = '/sw.js';
const LEAVE_WITHIN_MS = 3_000;

const selfOf = (client: TidemarkClient): string => client.getSnapshot().self?.id ?? '';
const isWished = (client: TidemarkClient): boolean => localStorage.getItem(WISH) === selfOf(client);

export function notificationState(client: TidemarkClient): NotificationState {
	const isSupported =
		'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
	return notificationStateOf({
		isSecure: isSecureContext,
		isSupported,
		permission: isSupported ? Notification.permission : 'default',
		isWished: isWished(client),
	});
}

export const isRefusal = (error: unknown): boolean =>
	error instanceof ApiError && error.code === 'web_push_off';

/** Asks for the browser's permission first, which is possible only while a click is handled. */
export async function turnOn(client: TidemarkClient): Promise<NotificationState> {
	if ((await Notification.requestPermission()) !== 'granted') return notificationState(client);
	try {
		await register(client);
	} catch (error) {
		return isRefusal(error) ? 'refused' : 'failed';
	}
	localStorage.setItem(WISH, selfOf(client));
	return notificationState(client);
}

export async function turnOff(client: TidemarkClient): Promise<NotificationState> {
	localStorage.removeItem(WISH);
	const registration = await navigator.serviceWorker.getRegistration('/');
	const subscription = await registration?.pushManager.getSubscription();
	if (registration && subscription) {
		// Otherwise the server finds out from the push service with the next message.
		await client.call('push.devices.remove', deviceOf(subscription)).catch(() => undefined);
		await subscription.unsubscribe();
		const shown = await inTurn(() => registration.getNotifications());
		for (const notification of shown) notification.close();
	}
	await navigator.clearAppBadge?.().catch(() => undefined);
	return notificationState(client);
}

/** Called when the user returns: restores a subscription that the browser or the server has lost. */
export async function renew(client: TidemarkClient): Promise<void> {
	// The next visit retries.
	if (notificationState(client) === 'on') await register(client).catch(() => undefined);
}

/** Called before the user signs out; gives up after a short time. */
export async function leave(client: TidemarkClient): Promise<void> {
	if (!isWished(client)) return;
	const late = new Promise((resolve) => setTimeout(resolve, LEAVE_WITHIN_MS));
	await Promise.race([turnOff(client).catch(() => undefined), late]);
}

async function register(client: TidemarkClient): Promise<void> {
	const { key } = await client.call<{ key: string }>('push.webKey');
	await navigator.serviceWorker.register(WORKER);
	const { pushManager } = await navigator.serviceWorker.ready;
	const subscription = await subscribe(pushManager, key);
	await client.call('push.devices.add', deviceOf(subscription));
}

/** A subscription is for one key of one server: with another one it has to be created again. */
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
