import type { TidemarkClient } from '@tidemark/client';

/**
 * Loads everybody in the workspace when the user is about to mention or look for somebody. The server announces people who join later,
 * but not during an outage, so the list is loaded again after one.
 */

const asked = new WeakMap<TidemarkClient, Promise<void>>();

export function everybody(client: TidemarkClient): Promise<void> {
	const known = asked.get(client);
	if (known) return known;
	// If this fails, names stay plain text; the next mention tries again.
	const asking = client.loadUsers().catch(() => void asked.delete(client));
	asked.set(client, asking);
	askAgainAfterOutage(client);
	return asking;
}

function askAgainAfterOutage(client: TidemarkClient): void {
	let wasOffline = false;
	const stop = client.subscribe(() => {
		const isOnline = client.getSnapshot().connection.status === 'online';
		if (isOnline && wasOffline) {
			asked.delete(client);
			stop();
		}
		wasOffline = !isOnline;
	});
}
