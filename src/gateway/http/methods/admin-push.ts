import { formatTs } from '../../../model/ts.ts';
import * as type from '../argument-types.ts';
import { adminMethod } from '../method.ts';

/** Lists notifications that failed for good, and retries them on request, once the cause is fixed. */

export const adminPushList = adminMethod({
	arguments: { limit: type.limit(100) },
	run: async (args, { services }) => {
		const { outbox } = services.push;
		const [sizes, items] = await Promise.all([outbox.sizes(), outbox.dead(args.limit)]);
		return {
			...sizes,
			items: items.map(({ device, user, conversation, ts, attempts, error }) => ({
				device,
				user,
				channel: conversation,
				ts: formatTs(ts),
				attempts,
				error,
			})),
		};
	},
});

export const adminPushReplay = adminMethod({
	arguments: {},
	run: async (_, { services }) => ({ replayed: await services.push.outbox.replay(Date.now()) }),
});
