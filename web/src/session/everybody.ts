import type { TidemarkClient } from '@tidemark/client';

/** Everybody in the workspace, asked for once: when somebody is about to be named. */

const asked = new WeakMap<TidemarkClient, Promise<void>>();

export function everybody(client: TidemarkClient): Promise<void> {
	const known = asked.get(client);
	if (known) return known;
	// Without an answer names stay what was written; the next one asks again.
	const asking = client.loadUsers().catch(() => void asked.delete(client));
	asked.set(client, asking);
	return asking;
}
