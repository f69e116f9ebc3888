import { countRow, threadRow } from '../../../../model/rows.ts';
import type { Moment, MomentQuery } from '../../../ports/read-state.ts';
import type { Fence } from '../fence.ts';
import type { ConversationCopy } from '../views/conversation-copy.ts';
import { NO_THREADS, type Wanted } from '../views/conversation-views.ts';
import type { UserCopy } from '../views/user-copy.ts';
import type { Views } from '../views/views.ts';
import { followIn } from './user-state.ts';

/**
 * A user's state about now. Nothing holds Redis still while several slots are read, and a command may be applied
 * long after it was stamped, as when its partition had no worker for a while. So what changed is found by when it came to be
 * seen, and how late that was is told with it.
 */
export class Moments {
	constructor(
		private readonly views: Views,
		private readonly fence: Fence,
		/** How long what Redis knows of a conversation lasts, unused. */
		private readonly ttlMicros: number,
	) {}

	async of(user: string, query: MomentQuery, now: number): Promise<Moment> {
		const whole = await this.fence.wholeSince();
		const horizon = Math.max(whole, now - this.ttlMicros);
		return this.views.look(
			user,
			(copy) => wantedFor(copy, query, now - this.ttlMicros),
			(copy, copies) => {
				const found = new Map(copies.flatMap((one) => (one ? [[one.id, one]] : [])));
				return momentOf(copy, found, query, now, horizon);
			},
		);
	}
}

/** Where the user is, what the user left lately, and the rows and threads that are asked for. */
function wantedFor(user: UserCopy, query: MomentQuery, leftSince: number): Wanted[] {
	const rows = new Set(query.rows);
	const threads = Map.groupBy(query.threads, ({ conversation }) => conversation);
	const wanted = new Map<string, Wanted>();
	for (const { conversation: id, membership } of user.memberships) {
		const { member, at, cursor } = membership;
		if (!member && at <= leftSince) continue;
		wanted.set(id, { id, back: member && rows.has(id) ? cursor : null, threads: NO_THREADS });
	}
	for (const [id, asked] of threads) {
		const followed = asked.map(({ threadTs }) => threadTs).filter((ts) => followIn(user.fields, id, ts));
		if (followed.length > 0) wanted.set(id, { id, back: wanted.get(id)?.back ?? null, threads: followed });
	}
	return [...wanted.values()];
}

function momentOf(
	user: UserCopy,
	found: ReadonlyMap<string, ConversationCopy>,
	query: MomentQuery,
	now: number,
	horizon: number,
): Moment {
	const { since } = query;
	const changed: string[] = [];
	let lateness = 0;
	for (const { conversation: id, membership } of user.memberships) {
		const copy = found.get(id);
		if (!copy) continue;
		const isChanged = copy.stamp > since || copy.seen > since;
		if (membership.member && isChanged) changed.push(id);
		// Who has been there since knows of it.
		if ((isChanged || !membership.member) && copy.lateSeen > since) lateness = Math.max(lateness, copy.late);
	}
	return {
		stamp: now,
		// The time of day says nothing about others.
		position: now,
		ownStamp: user.stamp,
		changed,
		rows: query.rows.flatMap((id) => {
			const [copy, membership] = [found.get(id), user.membership(id)];
			return copy && membership?.member ? [countRow(user, copy, membership, membership.ahead)] : [];
		}),
		threads: query.threads.flatMap(({ conversation: id, threadTs }) => {
			const [copy, follow] = [found.get(id), followIn(user.fields, id, threadTs)];
			const thread = copy?.threads.get(threadTs);
			return copy && follow && thread ? [threadRow(user, copy, threadTs, thread, follow)] : [];
		}),
		loose: { lateness, horizon },
	};
}
