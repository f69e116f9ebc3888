import { type Bus, type BusMessage, EVERY_GATEWAY } from '../../engine/ports/bus.ts';
import type { DirectPartners } from '../direct-partners.ts';
import type { Services } from '../services.ts';
import type { Authenticator } from './authenticator.ts';

/** Every gateway caches tokens: a revocation has to reach all gateways, and the sockets that use the token. */

/** `key`: as returned by `tokenKey`; null: all tokens of the user. */
export function publishRevocation(bus: Bus, key: string | null, user: string): void {
	const message = { type: 'signed_out', user, token: key } as const;
	bus.publish(EVERY_GATEWAY, message);
	bus.publish(`user:${user}`, message);
}

/**
 * Resolves when the revocation is durable and published. JWTs are not in the store; only their
 * revocations are.
 */
export async function revokeToken(
	{ directory, auth, bus, clock }: Pick<Services, 'directory' | 'auth' | 'bus' | 'clock'>,
	{ hash, user, team }: { readonly hash: string; readonly user: string; readonly team: string },
): Promise<void> {
	const at = clock.next();
	if (await directory.token(hash)) await directory.revokeToken(hash, at);
	else await directory.createToken({ hash, user, team, createdTs: at, revokedTs: at, expiresTs: null });
	auth.forget(hash);
	publishRevocation(bus, hash, user);
}

/** Returns an unsubscribe function. */
export function subscribeToRevocations(
	bus: Bus,
	auth: Pick<Authenticator, 'forget' | 'forgetUser' | 'forgetAll'>,
	partners: Pick<DirectPartners, 'forgetUser' | 'forgetAll'>,
): () => void {
	const receive = (message: BusMessage): void => {
		if (message.type === 'signed_out') {
			if (message.token === null) {
				auth.forgetUser(message.user);
				partners.forgetUser(message.user);
			} else auth.forget(message.token);
		} else if (message.type === 'lost') {
			auth.forgetAll();
			partners.forgetAll();
		}
	};
	bus.subscribe(EVERY_GATEWAY, receive);
	return () => bus.unsubscribe(EVERY_GATEWAY, receive);
}
