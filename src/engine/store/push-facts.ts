import type { Message } from '../../model/message.ts';
import type { Fact } from '../ports/facts.ts';
import { type MessageKey, WHOLE_CONVERSATION } from '../ports/push.ts';
import { writeFact } from './ledger.ts';
import { insertInto, type Writes } from './write-sql.ts';

/**
 * Queues work for push in the transaction of a fact: for a post, users may have to be notified;
 * for a changed message, notifications may be outdated; for a mark, its user has read something. One row
 * per fact, whatever the number of members.
 */

const UNTOUCHED = { after_user: "''", next_at: '0', lease: "''" };
const QUEUE_POST = insertInto(
	'push_outbox',
	{ conversation: 1, ts: 2, because: "'posted'", round: '0', ...UNTOUCHED },
	'ignore',
);
/** Starts a new round: processing of the members begins again. */
const QUEUE_CHANGE = insertInto(
	'push_outbox',
	{ conversation: 1, ts: 2, because: "'changed'", round: '1', ...UNTOUCHED },
	{
		on: ['conversation', 'ts'],
		update: `round = push_outbox.round + 1, after_user = '', next_at = 0, lease = ''`,
	},
);
/** A counter, not a stamp: clocks of machines differ. */
const QUEUE_READ = insertInto(
	'push_reads',
	{ user_id: 1, marks: '1', handled: '0', next_at: '0', lease: "''" },
	{ on: ['user_id'], update: 'marks = push_reads.marks + 1' },
);

export type FactWriter = (fact: Fact, into: Writes) => void;

export const writeFactForPush: FactWriter = (fact, into) => {
	writeFact(fact, into);
	switch (fact.type) {
		case 'posted':
			if (fact.conversation.memberCount > 1)
				into.add(QUEUE_POST, [fact.message.conversation, fact.message.ts]);
			break;
		case 'edited':
			if (mentionsSameUsers(fact.previous, fact.message)) break;
			queueChange(fact.message, into);
			break;
		case 'deleted':
			queueChange(fact.message, into);
			break;
		case 'changed':
			if (fact.what === 'archive')
				queueChange({ conversation: fact.conversation.id, ts: WHOLE_CONVERSATION }, into);
			break;
		// Each of these may lower the badge or make a notification obsolete.
		case 'cursor':
		case 'thread_cursor':
		case 'preference':
		case 'left':
		case 'unfollowed':
			into.set(`read ${fact.user}`, QUEUE_READ, [fact.user]);
			break;
	}
};

const queueChange = ({ conversation, ts }: MessageKey, into: Writes): void =>
	into.set(`changed ${conversation} ${ts}`, QUEUE_CHANGE, [conversation, ts]);

/** Edits that mention the same users notify nobody again. */
const mentionsSameUsers = (one: Message, other: Message): boolean =>
	one.channelWide === other.channelWide &&
	one.here === other.here &&
	one.named.length === other.named.length &&
	one.named.every((user) => other.named.includes(user));
