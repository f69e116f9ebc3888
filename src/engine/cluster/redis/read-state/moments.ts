import type { Clock } from '../../../../model/ts.ts';
import type { Moment, MomentQuery } from '../../../ports/read-state.ts';
import type { Reading } from './reading.ts';
import { type ReadUser, type Rows, shown } from './rows.ts';
import type { Turns } from './turns.ts';
import { followIn, membershipIn, stampIn } from './user-state.ts';

/**
 * A user's state at one moment. Nothing holds Redis still while several slots are read: so what was read is
 * looked at afterwards, and read again where any of it is later than the moment.
 */

const MOST_TRIES = 20;

export class Moments {
	constructor(
		private readonly reading: Reading,
		private readonly rows: Rows,
		private readonly turns: Turns,
		private readonly clock: Clock,
	) {}

	async of(read: () => Promise<ReadUser>, query: MomentQuery): Promise<Moment> {
		for (let tries = 1; ; tries += 1) {
			const stamp = this.clock.last();
			await this.turns.settled();
			const { newest, ...moment } = await this.take(await read(), query);
			if (newest <= stamp) return { ...moment, stamp };
			// Under unceasing change: everything up to the older stamp is in it, and some that is later.
			if (tries === MOST_TRIES) return { ...moment, stamp };
		}
	}

	private async take(user: ReadUser, query: MomentQuery) {
		const [places, rows, threads] = await Promise.all([
			this.reading.places(user),
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
		]);
		const stamps = [
			stampIn(user.fields),
			...places.map(({ standing }) => standing.stamp),
			...[...rows, ...threads].map((row) => row?.position.conversation ?? 0),
		];
		return {
			newest: stamps.reduce((a, b) => Math.max(a, b)),
			ownStamp: stampIn(user.fields),
			changed: places
				.filter(({ standing }) => standing.stamp > query.since)
				.map(({ conversation }) => conversation),
			rows: rows.flatMap((row) => (row ? [shown(row)] : [])),
			threads: threads.flatMap((row) => (row ? [shown(row)] : [])),
		};
	}
}
