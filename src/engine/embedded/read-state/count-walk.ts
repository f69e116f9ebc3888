import { emptyRow, fillRow, threadRow } from '../../../model/rows.ts';
import type { CountSink, CountTotals, ThreadTotals } from '../../ports/read-state.ts';
import type { LoadedUser } from './loaded.ts';
import type { Places } from './places.ts';
import type { Residents } from './residents.ts';

/**
 * All counts of a user, in one walk over its packed memberships. One row is filled again and again: an object
 * for each of a hundred thousand conversations would cost more than counting them.
 */
export class CountWalk {
	private readonly row = emptyRow();

	constructor(
		private readonly residents: Residents,
		private readonly places: Places,
	) {}

	/** Undefined where it met something that is not loaded as far back as the user's cursor. */
	take(user: LoadedUser, sink: CountSink): CountTotals | undefined {
		if (!this.places.hasThreadsOf(user)) return undefined;
		const { memberships } = user;
		const { row } = this;
		let badge = 0;
		// As `Places.stampOf`, without a walk of its own.
		let { stamp } = user;
		sink.begin(memberships.size);
		for (let index = 0; index < memberships.size; index += 1) {
			if (!memberships.isMemberAt(index)) continue;
			const conversation = this.residents.peekConversation(memberships.conversationAt(index));
			if (!conversation) continue;
			stamp = Math.max(stamp, conversation.stamp);
			if (conversation.archived) continue;
			if (memberships.cursorAt(index) < conversation.timeline.floor) return undefined;
			fillRow(row, user, conversation, memberships.at(index), user.ahead.get(conversation.number));
			badge += row.badge;
			sink.row(row);
		}
		const threads = this.threads(user);
		return { threads, badge: badge + threads.badge, stamp };
	}

	threads(user: LoadedUser): ThreadTotals {
		const totals = { unread: 0, mentions: 0, badge: 0 };
		for (const { conversation, threadTs, thread, follow } of this.places.threadsOf(user)) {
			const row = threadRow(user, conversation, threadTs, thread, follow);
			totals.unread += row.unread;
			totals.mentions += row.mentions;
			totals.badge += row.badge;
		}
		return totals;
	}
}
