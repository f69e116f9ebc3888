import { countRow, threadRow } from '../../../model/rows.ts';
import type { Clock } from '../../../model/ts.ts';
import type { CountRow, Moment, MomentQuery, ThreadRow } from '../../ports/read-state.ts';
import type { LoadedUser } from './loaded.ts';
import type { Places } from './places.ts';
import type { Residents } from './residents.ts';

/**
 * A user's state at one moment. Stamps, application and the ledger have one order here, so whatever has a
 * stamp up to the clock's newest is in memory, and nothing later: all of it is read in one turn.
 */
export class Moments {
	constructor(
		private readonly residents: Residents,
		private readonly places: Places,
		private readonly clock: Clock,
	) {}

	async of(userId: string, query: MomentQuery): Promise<Moment> {
		for (;;) {
			for (const conversation of query.rows) await this.places.at(userId, conversation, loaded);
			for (const { conversation, threadTs } of query.threads)
				await this.places.inThread(userId, conversation, threadTs, loaded);
			const moment = this.take(await this.places.complete(userId), query);
			if (moment) return moment;
		}
	}

	/** Undefined where something that was loaded has been let go in between. */
	private take(user: LoadedUser, query: MomentQuery): Moment | undefined {
		const rows: CountRow[] = [];
		for (const id of query.rows) {
			const number = this.residents.conversations.of(id);
			const membership = user.memberships.get(number);
			if (!membership?.member) continue;
			const conversation = this.residents.peekConversation(number);
			if (!conversation || membership.cursor < conversation.timeline.floor) return undefined;
			rows.push(countRow(user, conversation, membership, user.ahead.get(conversation.number)));
		}
		const threads: ThreadRow[] = [];
		for (const { conversation: id, threadTs } of query.threads) {
			const number = this.residents.conversations.of(id);
			const follow = user.follows.get(number)?.get(threadTs);
			if (!follow) continue;
			const conversation = this.residents.peekConversation(number);
			const thread = conversation?.threads.get(threadTs);
			if (!conversation || !thread) return undefined;
			threads.push(threadRow(user, conversation, threadTs, thread, follow));
		}
		const changed: string[] = [];
		for (const { conversation } of this.places.of(user))
			if (conversation.stamp > query.since) changed.push(conversation.id);
		const position = this.places.stampOf(user);
		return { stamp: this.clock.last(), position, ownStamp: user.stamp, changed, rows, threads };
	}
}

const loaded = (): boolean => true;
