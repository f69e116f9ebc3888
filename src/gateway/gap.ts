import type { Bus, BusMessage } from '../engine/ports/bus.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { Requests } from './requests.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

const COLLECT_MS = 300;

/** What rests on having heard everything. */
export interface Hearing {
	readonly bus: Pick<Bus, 'ready'>;
	readonly hub: Hub;
	readonly auth: Pick<Authenticator, 'forgetAll'>;
	readonly requests: Pick<Requests, 'doubt'>;
}

/**
 * The bus was interrupted, and nobody knows what was not heard: events, joins, revocations, outcomes. So nothing is
 * trusted that rests on having heard them. Clients connect again, are admitted once the bus hears, and resume.
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
