import {
	membershipField,
	packMembership,
	unpackMembership,
} from '../../src/engine/cluster/redis/read-state/packing.ts';
import { clusterEngine, clusterPlace } from '../support/cluster-engine.ts';
import { gatewayDriver } from '../support/ports-driver.ts';
import { LAYOUTS, loseMessage } from '../support/redis.ts';
import { describeConcurrentDevices } from './concurrent-contract.ts';
import { describeRepair } from './repair-contract.ts';

/** Damages the state in Redis. */
for (const layout of LAYOUTS)
	describeRepair({
		name: layout,
		open: async () => {
			const place = clusterPlace(layout);
			const engine = await place.open();
			const { commands, keys } = engine.redis;
			return {
				engine,
				driver: gatewayDriver(engine),
				damage: {
					loseMessage: (conversation, ts) => loseMessage(commands, keys, conversation, ts),
					loseReply: (conversation, threadTs, ts) => loseMessage(commands, keys, conversation, ts, threadTs),
					moveCursor: async (user, conversation, cursor) => {
						const field = membershipField(conversation);
						const [version, packed] = await commands.hmget(keys.fields(user), 'version', field);
						const moved = packMembership({ ...unpackMembership(packed ?? ''), cursor });
						const stateKeys = [keys.fields(user), keys.fieldNames(user)];
						await commands.setUser(...stateKeys, '', '', 60, version ?? '-', 0, field, moved);
					},
				},
				remove: () => place.remove(),
			};
		},
	});

describeConcurrentDevices(clusterEngine('redis'), {
	seeds: [6],
	operationsPerDevice: 40,
	repairing: true,
	exactCursors: false,
});
