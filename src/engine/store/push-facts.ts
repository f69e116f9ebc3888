import type { Fact } from '../ports/facts.ts';
import { writeFact } from './ledger.ts';
import type { Writes } from './sql.ts';

/**
 * What pushing notes of facts, in the transaction that makes them durable: of a post that there is somebody to tell,
 * of a mark that its user has read something. One row each, whatever the number of members.
 */

const NOTE_POST = `INSERT INTO push_outbox (conversation, ts, after_user, next_at, lease)
	VALUES ($1, $2, '', 0, '') ON CONFLICT (conversation, ts) DO NOTHING`;
/** Counted, not stamped: of two machines the later one may have the clock that is behind. */
const NOTE_READ = `INSERT INTO push_reads (user_id, marks, handled, next_at, lease)
	VALUES ($1, 1, 0, 0, '') ON CONFLICT (user_id) DO UPDATE SET marks = push_reads.marks + 1`;

/** Writes a fact into a batch. */
export type FactWriter = (fact: Fact, into: Writes) => void;

export const writeFactForPush: FactWriter = (fact, into) => {
	writeFact(fact, into);
	switch (fact.type) {
		case 'posted':
			if (fact.conversation.memberCount > 1)
				into.add(NOTE_POST, [fact.message.conversation, fact.message.ts]);
			break;
		case 'cursor':
		case 'thread_cursor':
			into.set(`read ${fact.user}`, NOTE_READ, [fact.user]);
			break;
	}
};
