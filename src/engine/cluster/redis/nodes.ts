import type { Cluster, Redis } from 'ioredis';
import { slotOf } from './slots.ts';

/** Which node has the keys of a tag, as far as the client knows; with one Redis there is one. */
export function nodesOf(client: Redis | Cluster): (tag: string) => string {
	if (!('slots' in client)) return () => '';
	return (tag) => {
		const slot = slotOf(tag);
		return client.slots[slot]?.[0] ?? String(slot);
	};
}
