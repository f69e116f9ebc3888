import { withoutFile } from '../model/files.ts';
import type { Message } from '../model/message.ts';
import { threadAround, threadBelow } from './decide-messages.ts';
import { type ActionOf, accept, type Decision, refuse, type Situation } from './decision.ts';

/**
 * A file of a message was deleted: a tombstone takes its place. Who may delete a file is the gateway's to decide; here it is no edit of the
 * author's, so the message is not marked as edited, and it counts as before.
 */
export function decideRemoveFile(situation: Situation, action: ActionOf<'remove_file'>): Decision {
	const { state, conversation, at } = situation;
	const previous = state.messages.get(action.ts);
	if (!previous || previous.deleted) return refuse('message_not_found');
	const extra = withoutFile(previous.extra, action.file, at);
	if (extra === null) return accept({ unchanged: true });
	const message: Message = { ...previous, extra, changedTs: at };
	const thread = threadAround(situation, previous, {}) ?? threadBelow(situation, message);
	return accept({ message, thread }, { type: 'edited', conversation, at, message, previous, thread });
}
