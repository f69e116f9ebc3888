import { ApiError, type TidemarkClient } from '@tidemark/client';
import { inTurn } from './in-turn.ts';
import { type NotificationState, notificationStateOf } from './notification-state.ts';

/**
 * This browser as a device of the user who is signed in. It has one subscription, so it belongs to one user at a time: a user who
 * turned it on last. That they did is kept here, so that a subscription that was lost is made again when they come back.
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

/** Begins with the browser's own question, which it asks only while a click is being answered. */
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
		// The server also learns it from the push service, with the next message.
		await client.call('push.devices.remove', deviceOf(subscription)).catch(() => undefined);
		await subscription.unsubscribe();
		const shown = await inTurn(() => registration.getNotifications());
		for (const notification of shown) notification.close();
	}
	await navigator.clearAppBadge?.().catch(() => undefined);
	return notificationState(client);
}

/** When they come back: what the browser or the server lost meanwhile is made again. */
export async function renew(client: TidemarkClient): Promise<void> {
	// Another time, if not now.
	if (notificationState(client) === 'on') await register(client).catch(() => undefined);
}

/** Before somebody signs out; not waited for longer than people do. */
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
