import type { CountRow } from '../../../engine/ports/read-state.ts';
import { formatPosition } from '../../../model/position.ts';
import { countRowText } from '../../../protocol/objects.ts';
import { EncodedMembers } from '../envelope.ts';
import { userMethod } from '../method.ts';

/** What a client asks for when it starts: everything one has unread, in one call. */

export const clientCounts = userMethod({
	arguments: {},
	ignored: ['thread_counts_by_channel', 'org_wide_aware', 'include_file_channels', 'include_all_unreads'],
	run: async (_args, { services, caller }) => {
		const counts = await services.readState.counts(caller.user.id);
		const { channels, mpims, ims } = byFamily(counts.rows);
		const threads = {
			has_unreads: counts.threads.unread > 0,
			unread_count: counts.threads.unread,
			mention_count: counts.threads.mentions,
		};
		return new EncodedMembers(
			`"threads":${JSON.stringify(threads)},"channels":[${channels}],"mpims":[${mpims}],"ims":[${ims}],` +
				`"badge":${counts.badge},"position":"${formatPosition(counts.stamp)}"`,
		);
	},
});

/** Rows as JSON text: a user may have a hundred thousand, and an object for each would be made for nothing. */
function byFamily(rows: readonly CountRow[]) {
	const texts = { channels: '', mpims: '', ims: '' };
	for (const row of rows) {
		const family = row.kind === 'im' ? 'ims' : row.kind === 'mpim' ? 'mpims' : 'channels';
		texts[family] += texts[family] === '' ? countRowText(row) : `,${countRowText(row)}`;
	}
	return texts;
}

export const clientMarkAllRead = userMethod({
	arguments: {},
	run: async (_args, { services, caller }) => {
		await services.reads.markAllRead(caller.user.id);
		return {};
	},
});
