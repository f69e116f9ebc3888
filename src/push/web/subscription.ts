import { ECDH } from 'node:crypto';

/**
 * A browser's push subscription: PushSubscription.toJSON(). The device token is its normalised JSON, so that a
 * subscription is always the same device.
 */

export interface Subscription {
	/** A secret: anyone who knows it can send. */
	readonly endpoint: string;
	/** Base64url: the browser's public key, and a secret that it shares with senders. */
	readonly keys: { readonly p256dh: string; readonly auth: string };
}

const CURVE = 'prime256v1';
const POINT_BYTES = 65;
const AUTH_BYTES = 16;

/** Throws an error that says what is wrong, without repeating the content. */
export function readSubscription(text: string): Subscription {
	const { endpoint, keys } = fieldsOf(text);
	const url = typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint) : null;
	if (!url) throw new Error('endpoint is not a URL');
	if (url.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '')
		throw new Error('endpoint must be an https URL, and must have no user, password or fragment');
	const { p256dh, auth } = fieldsIn(keys);
	if (!isPoint(bytesOf(p256dh))) throw new Error('keys.p256dh is not a point of P-256 (65 bytes, base64url)');
	if (bytesOf(auth)?.length !== AUTH_BYTES) throw new Error('keys.auth is not 16 bytes in base64url');
	return { endpoint: url.href, keys: { p256dh: unpadded(p256dh), auth: unpadded(auth) } };
}

export const deviceTokenOf = ({ endpoint, keys: { p256dh, auth } }: Subscription): string =>
	JSON.stringify({ endpoint, keys: { p256dh, auth } });

/** The host of the push service. */
export const hostOf = ({ endpoint }: Subscription): string => new URL(endpoint).host;

/** For stored devices, whose token was checked when it was added. */
export const subscriptionOf = (token: string): Subscription => JSON.parse(token) as Subscription;

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
	try {
		return fieldsIn(JSON.parse(text));
	} catch {
		throw new Error('not the JSON of a PushSubscription');
	}
}

const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Some old browsers add padding. */
const unpadded = (value: unknown): string => String(value).replace(/=+$/, '');

function bytesOf(value: unknown): Buffer | null {
	return typeof value === 'string' && /^[\w-]{1,200}={0,2}$/.test(value)
		? Buffer.from(value, 'base64url')
		: null;
}

function isPoint(bytes: Buffer | null): boolean {
	if (bytes?.length !== POINT_BYTES || bytes[0] !== 4) return false;
	try {
		ECDH.convertKey(bytes, CURVE);
		return true;
	} catch {
		return false;
	}
}
