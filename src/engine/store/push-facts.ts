import type { Message } from '../../model/message.ts';
import type { Fact } from '../ports/facts.ts';
import { type MessageKey, WHOLE } from '../ports/push.ts';
import { writeFact } from './ledger.ts';
import { insertInto, type Writes } from './write-sql.ts';

/**
 * What pushing notes of facts, in the transaction that makes them durable: of a post that users may have to be notified,
 * of a changed message that a notification may be outdated, of a mark that its user has read something. One row
 * each, whatever the number of members.
 */

const UNTOUCHED = { after_user: "''", next_at: '0', lease: "''" };
const NOTE_POST = insertInto(
	'push_outbox',
	{ conversation: 1, ts: 2, because: "'posted'", round: '0', ...UNTOUCHED },
	'ignore',
);
/** Whoever is going through its members does not finish: they are gone through again. */
const NOTE_CHANGE = insertInto(
	'push_outbox',
	{ conversation: 1, ts: 2, because: "'changed'", round: '1', ...UNTOUCHED },
	{
		on: ['conversation', 'ts'],
		update: `round = push_outbox.round + 1, after_user = '', next_at = 0, lease = ''`,
	},
);
/** Counted, not stamped: of two machines the later one may have the clock that is behind. */
const NOTE_READ = insertInto(
	'push_reads',
	{ user_id: 1, marks: '1', handled: '0', next_at: '0', lease: "''" },
	{ on: ['user_id'], update: 'marks = push_reads.marks + 1' },
);

/** Writes a fact into a batch. */
export type FactWriter = (fact: Fact, into: Writes) => void;

export const writeFactForPush: FactWriter = (fact, into) => {
	writeFact(fact, into);
	switch (fact.type) {
		case 'posted':
			if (fact.conversation.memberCount > 1)
				into.add(NOTE_POST, [fact.message.conversation, fact.message.ts]);
			break;
		case 'edited':
			if (callsTheSame(fact.previous, fact.message)) break;
			noteChange(fact.message, into);
			break;
		case 'deleted':
			noteChange(fact.message, into);
			break;
		case 'changed':
			if (fact.what === 'archive') noteChange({ conversation: fact.conversation.id, ts: WHOLE }, into);
			break;
		// Each may take something out of the badge, or a notification its ground.
		case 'cursor':
		case 'thread_cursor':
		case 'preference':
		case 'left':
		case 'unfollowed':
			into.set(`read ${fact.user}`, NOTE_READ, [fact.user]);
			break;
	}
};

const noteChange = ({ conversation, ts }: MessageKey, into: Writes): void =>
	into.set(`changed ${conversation} ${ts}`, NOTE_CHANGE, [conversation, ts]);

/** Other words for the same people wake nobody a second time. */
const callsTheSame = (one: Message, other: Message): boolean =>
	one.channelWide === other.channelWide &&
	one.here === other.here &&
	one.named.length === other.named.length &&
	one.named.every((user) => other.named.includes(user));
