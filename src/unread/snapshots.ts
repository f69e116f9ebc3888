import type { SnapshotQuery, UserSnapshot } from '../engine/ports/read-state.ts';
import type { ConversationScope, Scope, ViewSnapshot } from '../engine/ports/views.ts';
import { countRow, threadRow } from '../model/rows.ts';
import { inConversation, inThread, NO_THREADS } from './scopes.ts';

/** A user's current state, and which conversations have changed since a stamp. */

/** All heads, and the rows and threads in the query. */
export const scopeOfSnapshot = ({ rows, threads }: SnapshotQuery): Scope => ({
	all: 'heads',
	changes: true,
	some: (user) => {
		const wanted: ConversationScope[] = [];
		for (const id of rows) {
			const membership = user.membership(id);
			if (membership?.member) wanted.push({ id, after: membership.cursor, threads: NO_THREADS });
		}
		for (const { conversation: id, threadTs } of threads)
			if (user.follow(id, threadTs)) wanted.push({ id, after: null, threads: [threadTs] });
		return wanted;
	},
});

export function snapshotOf(views: ViewSnapshot, { since, rows, threads }: SnapshotQuery): UserSnapshot {
	const { conversations: changed, ...freshness } = views.changedSince(since);
	return {
		stamp: views.stamp,
		position: views.position(),
		ownStamp: views.user.stamp,
		changed,
		rows: rows.flatMap((id) => inConversation(views, id, countRow) ?? []),
		threads: threads.flatMap(
			({ conversation, threadTs }) => inThread(views, conversation, threadTs, threadRow) ?? [],
		),
		...freshness,
	};
}
