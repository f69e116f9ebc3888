import type { PushStore } from '../../ports/push.ts';
import { writeFact } from '../../store/ledger.ts';
import { type FactWriter, writeFactForPush } from '../../store/push-facts.ts';
import type { SqlReader } from '../../store/sql.ts';

/**
 * Queues posts and marks for push once there is a device: every server can push to browsers, but without a device push must cost
 * nothing. Only this process adds devices, so it can watch for the first one. When the last device is removed, queueing continues until
 * the next start.
 */

const ANY_DEVICE = 'SELECT 1 AS found FROM push_devices LIMIT 1';

export interface PushQueueing {
	readonly write: FactWriter;
	/** Wraps the store, so that adding the first device starts the queueing. */
	watch(push: PushStore): PushStore;
}

export async function queueingWithDevices(reader: SqlReader): Promise<PushQueueing> {
	let begun = (await reader.all(ANY_DEVICE, [])).length > 0;
	return {
		write: (fact, into) => (begun ? writeFactForPush(fact, into) : writeFact(fact, into)),
		watch: ({ devices, outbox }) => ({
			outbox,
			devices: {
				...devices,
				add: (device) => {
					// Before the device is stored, so that a post in the same batch is queued as well.
					begun = true;
					return devices.add(device);
				},
			},
		}),
	};
}
