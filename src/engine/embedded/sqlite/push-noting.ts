import type { PushStore } from '../../ports/push.ts';
import { writeFact } from '../../store/ledger.ts';
import { type FactWriter, writeFactForPush } from '../../store/push-facts.ts';
import type { SqlReader } from '../../store/sql.ts';

/**
 * Notes for pushing from the first device on: every server can push to browsers, and one that nobody subscribed to has to
 * cost what it would cost without. This process is the only one that adds devices, so it knows. When the last one goes,
 * noting goes on until the next start.
 */

const ANY_DEVICE = 'SELECT 1 AS found FROM push_devices LIMIT 1';

export interface PushNoting {
	readonly write: FactWriter;
	/** The same store, whose first device begins it. */
	watch(push: PushStore): PushStore;
}

export async function notingWithDevices(reader: SqlReader): Promise<PushNoting> {
	let begun = (await reader.all(ANY_DEVICE, [])).length > 0;
	return {
		write: (fact, into) => (begun ? writeFactForPush(fact, into) : writeFact(fact, into)),
		watch: ({ devices, outbox }) => ({
			outbox,
			devices: {
				...devices,
				add: (device) => {
					// Before it is stored: what is posted right after it is in the same batch at the earliest.
					begun = true;
					return devices.add(device);
				},
			},
		}),
	};
}
