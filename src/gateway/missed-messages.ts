import type { Bus, BusMessage } from '../engine/ports/bus.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { Requests } from './requests.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

const COLLECT_MS = 300;

/** State that is valid only if no message of the bus was missed. */
export interface AfterGap {
	readonly bus: Pick<Bus, 'ready'>;
	readonly hub: Hub;
	readonly auth: Pick<Authenticator, 'forgetAll'>;
	readonly requests: Pick<Requests, 'expireWaiting'>;
}

/**
 * The subscription to the bus was interrupted, so events, joins, revocations and outcomes may have been missed. Caches that
 * depend on them are cleared, and sockets are closed. Clients connect again once the bus is subscribed, and resume.
 */
export async function resetAfterGap({ bus, hub, auth, requests }: AfterGap): Promise<void> {
	auth.forgetAll();
	const subscribed = bus.ready().then(() => requests.expireWaiting());
	await closeAll(hub.connections());
	await subscribed;
}

/** Something that is stored may never have been published (delivery-record.ts). Returns what ends it. */
export function onMissed(bus: Bus, startOver: () => void): () => void {
	let isCollecting = false;
	const receive = (message: BusMessage): void => {
		if (message.type !== 'missed' || isCollecting) return;
		// A worker that died had several partitions, and each of them is announced.
		isCollecting = true;
		setTimeout(() => {
			isCollecting = false;
			startOver();
		}, COLLECT_MS);
	};
	bus.subscribe('gateways:all', receive);
	return () => bus.unsubscribe('gateways:all', receive);
}
