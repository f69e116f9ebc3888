import type { Authenticator } from './auth/authenticator.ts';
import { closeAll } from './socket/closing.ts';
import type { Hub } from './socket/hub.ts';

/**
 * The bus was interrupted, and nobody knows what was not heard: events, joins, revocations. So nothing is
 * trusted that rests on having heard them. Clients connect again, are admitted once the bus hears, and resume.
 */
export async function beginAnew(hub: Hub, auth: Pick<Authenticator, 'forgetAll'>): Promise<void> {
	auth.forgetAll();
	await closeAll(hub.connections());
}
