import { type Bus, type BusMessage, EVERY_GATEWAY } from '../engine/ports/bus.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { Requests } from './requests.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

/**
 * Handles gaps on the bus. A gap is a time in which messages were published while this gateway was not subscribed, or in which a
 * worker died before it published.
 */

const COLLECT_MS = 300;

/** State that is valid only if no message of the bus was missed. */
export interface GapReset {
	readonly bus: Pick<Bus, 'ready'>;
	readonly hub: Hub;
	readonly auth: Pick<Authenticator, 'forgetAll'>;
	readonly requests: Pick<Requests, 'expireWaiting'>;
}

/**
 * Called when a gap begins, or when one is reported: events, joins, revocations and outcomes may be missed. Clears the cached tokens and
 * closes all sockets. Once the bus is subscribed again, clients resume, and waiting requests fail after 15 s instead of 30 s (`expireWaiting`).
 */
export async function resetForGap({ bus, hub, auth, requests }: GapReset): Promise<void> {
	auth.forgetAll();
	const subscribed = bus.ready().then(() => requests.expireWaiting());
	await closeAll(hub.connections());
	await subscribed;
}

/**
 * Calls `reset` when a worker reports changes that are stored but may never have been published
 * (publication-record.ts), or when such a report may have been lost. Returns an unsubscribe function.
 */
export function onUnpublishedChanges(bus: Bus, reset: () => void): () => void {
	let isCollecting = false;
	const receive = (message: BusMessage): void => {
		if ((message.type !== 'missed' && message.type !== 'lost') || isCollecting) return;
		// A worker that died owned several partitions, and each reports separately: collect the reports.
		isCollecting = true;
		setTimeout(() => {
			isCollecting = false;
			reset();
		}, COLLECT_MS);
	};
	bus.subscribe(EVERY_GATEWAY, receive);
	return () => bus.unsubscribe(EVERY_GATEWAY, receive);
}
