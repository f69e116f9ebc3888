import type { Bus } from '../engine/ports/bus.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { Requests } from './requests.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

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
