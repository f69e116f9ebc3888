import type { Moment, MomentQuery } from '../engine/ports/read-state.ts';
import type { Looked, Scope, Wanted } from '../engine/ports/views.ts';
import { countRow, threadRow } from '../model/rows.ts';
import { NO_THREADS, placeIn, threadIn } from './places.ts';

/** A user's state about now, and where anything changed since a stamp. */

/** Where the user is, and the rows and threads that are asked for. */
export const scopeOfMoment = ({ rows, threads }: MomentQuery): Scope => ({
	all: 'heads',
	changes: true,
	some: (user) => {
		const wanted: Wanted[] = [];
		for (const id of rows) {
			const membership = user.membership(id);
			if (membership?.member) wanted.push({ id, back: membership.cursor, threads: NO_THREADS });
		}
		for (const { conversation: id, threadTs } of threads)
			if (user.follow(id, threadTs)) wanted.push({ id, back: null, threads: [threadTs] });
		return wanted;
	},
});

export function momentOf(looked: Looked, { since, rows, threads }: MomentQuery): Moment {
	const { conversations: changed, ...freshness } = looked.changedSince(since);
	return {
		stamp: looked.stamp,
		position: looked.position(),
		ownStamp: looked.user.stamp,
		changed,
		rows: rows.flatMap((id) => placeIn(looked, id, countRow) ?? []),
		threads: threads.flatMap(
			({ conversation, threadTs }) => threadIn(looked, conversation, threadTs, threadRow) ?? [],
		),
		...freshness,
	};
}
