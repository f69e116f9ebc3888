import type { Connection } from './connection.ts';

const CLOSED_PER_TURN = 200;

/**
 * Closes these sockets so that their clients reconnect and resume. Staggered, so that they do not return together.
 */
export async function closeAll(all: Iterable<Connection>): Promise<void> {
	const connections = [...all];
	for (let from = 0; from < connections.length; from += CLOSED_PER_TURN) {
		for (const connection of connections.slice(from, from + CLOSED_PER_TURN)) {
			connection.send('{"type":"goodbye"}');
			connection.close('going_away');
		}
		await Bun.sleep(1);
	}
}
