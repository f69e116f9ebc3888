import type { Bus, BusMessage } from '../engine/ports/bus.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { Requests } from './requests.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

const COLLECT_MS = 300;

/** State that is valid only if no message of the bus was missed. */
export interface Hearing {
	readonly bus: Pick<Bus, 'ready'>;
	readonly hub: Hub;
	readonly auth: Pick<Authenticator, 'forgetAll'>;
	readonly requests: Pick<Requests, 'doubt'>;
}

/**
 * The subscription to the bus was interrupted, so events, joins, revocations and outcomes may have been missed. Caches that
 * depend on them are cleared, and sockets are closed. Clients connect again once the bus is subscribed, and resume.
 */
export async function beginAnew({ bus, hub, auth, requests }: Hearing): Promise<void> {
	auth.forgetAll();
	const heard = bus.ready().then(() => requests.doubt());
	await closeAll(hub.connections());
	await heard;
}

/** Something that is stored may never have been published (delivery-record.ts). Returns what ends it. */
export function onMissed(bus: Bus, startOver: () => void): () => void {
	let isCollecting = false;
	const hear = (message: BusMessage): void => {
		if (message.type !== 'missed' || isCollecting) return;
		// A worker that died had several partitions, and each of them is announced.
		isCollecting = true;
		setTimeout(() => {
			isCollecting = false;
			startOver();
		}, COLLECT_MS);
	};
	bus.subscribe('gateways:all', hear);
	return () => bus.unsubscribe('gateways:all', hear);
}
