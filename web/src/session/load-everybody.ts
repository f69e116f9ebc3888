import type { TidemarkClient } from '@tidemark/client';

/**
 * Loads all users of the workspace when the user is about to mention or find somebody. The server publishes an event
 * for each user who joins later. The client may miss such events during an outage, so the first call after an outage
 * loads the list again.
 */

const loads = new WeakMap<TidemarkClient, Promise<void>>();

export function loadEverybody(client: TidemarkClient): Promise<void> {
	const known = loads.get(client);
	if (known) return known;
	// If this fails, names stay plain text; the next mention tries again.
	const load = client.loadUsers().catch(() => void loads.delete(client));
	loads.set(client, load);
	forgetAfterOutage(client);
	return load;
}

function forgetAfterOutage(client: TidemarkClient): void {
	let wasOffline = false;
	const stop = client.subscribe(() => {
		const isOnline = client.getSnapshot().connection.status === 'online';
		if (isOnline && wasOffline) {
			loads.delete(client);
			stop();
		}
		wasOffline = !isOnline;
	});
}
