import type { Bus, BusMessage } from '../../engine/ports/bus.ts';
import type { Authenticator } from './authenticator.ts';

/** Every gateway remembers tokens for a while: that one was revoked has to reach all of them, and its sockets. */

const EVERY_GATEWAY = 'gateways:all';

export function tellRevoked(bus: Bus, tokenHash: string, user: string): void {
	const message = { type: 'signed_out', token: tokenHash } as const;
	bus.publish(EVERY_GATEWAY, message);
	bus.publish(`user:${user}`, message);
}

/** Returns what ends it. */
export function hearRevoked(bus: Bus, auth: Pick<Authenticator, 'forget' | 'forgetAll'>): () => void {
	const hear = (message: BusMessage): void => {
		if (message.type === 'signed_out') auth.forget(message.token);
		else if (message.type === 'lost') auth.forgetAll();
	};
	bus.subscribe(EVERY_GATEWAY, hear);
	return () => bus.unsubscribe(EVERY_GATEWAY, hear);
}
