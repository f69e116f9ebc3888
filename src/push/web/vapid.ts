import { createECDH, randomBytes } from 'node:crypto';
import { CachedToken } from '../cached-token.ts';

/**
 * Identifies this server to push services (RFC 8292): a key pair, whose public half browsers get when they
 * subscribe, and a JWT for each service. A subscription accepts only messages signed with this key.
 */

/** Both in base64url, as `web-push generate-vapid-keys` prints them. */
export interface VapidKey {
	readonly publicKey: string;
	readonly privateKey: string;
}

const CURVE = 'prime256v1';
const PRIVATE_BYTES = 32;
/** Services accept at most a day; half of it tolerates clock differences. */
const EXPIRES_AFTER_S = 12 * 60 * 60;
const RENEW_AFTER_MS = 6 * 60 * 60_000;

/** Throws an error that says what is wrong, without the key. */
export function vapidKeyOf(privateKey: string): VapidKey {
	const bytes = /^[\w-]+=*$/.test(privateKey) ? Buffer.from(privateKey, 'base64url') : Buffer.alloc(0);
	const curve = createECDH(CURVE);
	try {
		if (bytes.length !== PRIVATE_BYTES) throw new Error('of another length');
		curve.setPrivateKey(bytes);
	} catch {
		throw new Error('is not a private key of P-256 (32 bytes, base64url)');
	}
	return {
		publicKey: curve.getPublicKey().toString('base64url'),
		privateKey: bytes.toString('base64url'),
	};
}

export function newVapidKey(): VapidKey {
	for (;;) {
		try {
			return vapidKeyOf(randomBytes(PRIVATE_BYTES).toString('base64url'));
		} catch {
			// One in four thousand million random values exceeds the order of the curve.
		}
	}
}

/** The key and contact that sign messages. */
export interface VapidIdentity {
	readonly key: VapidKey;
	/** A contact for operators of push services: `mailto:` or `https:`. */
	readonly contact: string;
}

/** The `Authorization` header for one push service. */
export const vapidToken = (
	origin: string,
	{ key, contact }: VapidIdentity,
	nowMs: () => number,
): CachedToken =>
	new CachedToken(async () => {
		const { getVapidHeaders } = await import('web-push');
		const expires = Math.floor(nowMs() / 1000) + EXPIRES_AFTER_S;
		const { publicKey, privateKey } = key;
		const headers = getVapidHeaders(origin, contact, publicKey, privateKey, 'aes128gcm', expires);
		return { token: headers.Authorization, forMs: RENEW_AFTER_MS };
	}, nowMs);
