import { encodeCounts } from '../counts-encoder.ts';
import { EncodedAnswer } from '../envelope.ts';
import { userMethod } from '../method.ts';

/** What a client asks for when it starts: everything one has unread, in one call. */
export const clientCounts = userMethod({
	arguments: {},
	ignored: ['thread_counts_by_channel', 'org_wide_aware', 'include_file_channels', 'include_all_unreads'],
	run: async (_args, { services, caller }) =>
		new EncodedAnswer(encodeCounts(await services.readState.counts(caller.user.id))),
});

export const clientMarkAllRead = userMethod({
	arguments: {},
	run: async (_args, { services, caller }) => {
		await services.reads.markAllRead(caller.user.id);
		return {};
	},
});
