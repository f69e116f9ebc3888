import { nextTurn } from '../../../model/next-turn.ts';
import type { Ledger } from '../../ports/store.ts';
import type { RepairProblem } from '../../ports/views.ts';
import type { Residents } from './residents.ts';

/**
 * Replaces views in memory with the state in the store. All commits are durable before the store is read, and the rows are
 * used, without an await, only if nothing has changed since, so no change is lost.
 *
 * A conversation keeps its object and how far back it is loaded, so callers that hold it, or have prepared a command for it,
 * can continue. Views that are not in memory are loaded from the store in any case.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const MAX_TRIES = 100;

export class Repair {
	constructor(
		private readonly residents: Residents,
		private readonly ledger: Ledger,
	) {}

	async at(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const done =
			(await repeatedly(() => this.conversation(conversation))) &&
			(await repeatedly(() => this.residents.reloadUser(user)));
		return done ? 'repaired' : 'changing';
	}

	/** Resolves to false if it changed in the meantime. */
	private async conversation(id: string): Promise<boolean> {
		const { residents } = this;
		const { source } = residents;
		const number = residents.conversations.peek(id);
		const conversation = number === undefined ? undefined : residents.peekConversation(number);
		if (!conversation) return true;
		const { stamp, timeline } = conversation;
		const { floor } = timeline;
		const threads = [...conversation.threads];
		await this.ledger.flushed();
		const [brief] = await source.briefs([id]);
		if (!brief) return true;
		const rows = await source.timelineEntries(id, floor, EVERYTHING, EVERYTHING);
		const replies = await Promise.all(
			threads.map(([threadTs]) => source.threadEntries(id, threadTs, EVERYTHING, EVERYTHING)),
		);
		if (conversation.evicted || conversation.stamp !== stamp || timeline.floor !== floor) return false;

		const entryOf = residents.entryOf.bind(residents);
		residents.journal.add(conversation.number);
		conversation.archived = brief.archived;
		timeline.replace(rows.map(entryOf), rows.at(-1)?.ts ?? brief.latest);
		for (const [index, [, thread]] of threads.entries()) {
			const entries = (replies[index] ?? []).map(entryOf);
			thread.replace(entries, entries.at(-1)?.ts ?? 0);
		}
		return true;
	}
}

async function repeatedly(attempt: () => Promise<boolean>): Promise<boolean> {
	for (let tries = 0; tries < MAX_TRIES; tries += 1) {
		if (await attempt()) return true;
		await nextTurn();
	}
	return false;
}
