import type { Ledger } from '../../ports/store.ts';
import type { RepairProblem } from '../../ports/views.ts';
import { nextTurn } from './depths.ts';
import type { Residents } from './residents.ts';

/**
 * Puts what the store has in the place of what is in memory. Everything that was handed over is on disk when the store is
 * read, and what was read is taken in, in one turn, only where nothing changed since: so nothing is lost by it.
 *
 * A conversation is the same object before and after, as far back as before: a caller that holds it, or has prepared a command for it,
 * goes on with it. What is not in memory comes from the store in any case.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const MOST_TRIES = 100;

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

	/** Answers false where it changed meanwhile. */
	private async conversation(id: string): Promise<boolean> {
		const { residents } = this;
		const { source } = residents;
		const number = residents.conversations.peek(id);
		const conversation = number === undefined ? undefined : residents.peekConversation(number);
		if (!conversation) return true;
		const { stamp, timeline } = conversation;
		const { floor } = timeline;
		const threads = [...conversation.threads];
		await this.ledger.settled();
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
	for (let tries = 0; tries < MOST_TRIES; tries += 1) {
		if (await attempt()) return true;
		await nextTurn();
	}
	return false;
}
