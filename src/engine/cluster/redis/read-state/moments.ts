import type { Moment, MomentQuery } from '../../../ports/read-state.ts';
import type { Fence } from '../fence.ts';
import type { Reading } from './reading.ts';
import { type ReadUser, type Rows, shown } from './rows.ts';
import { followIn, membershipIn, stampIn } from './user-state.ts';

/**
 * A user's state about now. Nothing holds Redis still while several slots are read, and a command may be applied
 * long after it was stamped, as when its partition had no worker for a while. So what changed is found by when it came to be
 * seen, and how late that was is told with it.
 */
export class Moments {
	constructor(
		private readonly reading: Reading,
		private readonly rows: Rows,
		private readonly fence: Fence,
		/** How long what Redis knows of a conversation lasts, unused. */
		private readonly ttlMicros: number,
	) {}

	async of(user: ReadUser, query: MomentQuery, now: number): Promise<Moment> {
		const [places, formerPlaces, rows, threads, whole] = await Promise.all([
			this.reading.places(user),
			this.reading.formerPlaces(user, now - this.ttlMicros),
			Promise.all(
				query.rows.map(async (conversation) => {
					const membership = membershipIn(user.fields, conversation);
					return membership?.member ? this.rows.row(user, conversation, membership) : null;
				}),
			),
			Promise.all(
				query.threads.map(async ({ conversation, threadTs }) => {
					const follow = followIn(user.fields, conversation, threadTs);
					return follow ? this.rows.threadRow(user, conversation, threadTs, follow) : null;
				}),
			),
			this.fence.wholeSince(),
		]);
		const changed = places.filter(
			({ standing }) => standing.stamp > query.since || standing.seen > query.since,
		);
		return {
			stamp: now,
			ownStamp: stampIn(user.fields),
			changed: changed.map(({ conversation }) => conversation),
			rows: rows.flatMap((row) => (row ? [shown(row)] : [])),
			threads: threads.flatMap((row) => (row ? [shown(row)] : [])),
			loose: {
				// Who has been there since knows of it.
				lateness: [...changed, ...formerPlaces]
					.filter(({ standing }) => standing.lateSeen > query.since)
					.reduce((most, { standing }) => Math.max(most, standing.late), 0),
				horizon: Math.max(whole, now - this.ttlMicros),
			},
		};
	}
}
