import { Rejection } from '../../model/errors.ts';
import type { Message } from '../../model/message.ts';
import type { Follow } from '../../sequencer/state.ts';
import { followFrom } from '../../sequencer/threads.ts';
import type { Services } from '../services.ts';
import { joinedConversation } from './access.ts';
import type { UserCall } from './method.ts';

/** Reads threads from the store and the read state, for methods that need no decision of a worker. */

/** The message, if it is the root of a thread or could be one: not a reply, and not deleted unless it has replies. */
export async function rootAt(
	{ history }: Pick<Services, 'history'>,
	conversation: string,
	ts: number,
): Promise<Message | undefined> {
	const [message] = await history.messages(conversation, [ts]);
	if (!message || message.threadTs !== null) return undefined;
	const isGone = message.deleted && (await history.threads(conversation, [ts])).length === 0;
	return isGone ? undefined : message;
}

/**
 * Whether the caller follows a thread. The read state answers if it knows the thread, otherwise the store. No worker
 * is involved, so this works while none is running.
 */
export async function followOfCaller(
	call: UserCall,
	channel: string,
	threadTs: number,
): Promise<Follow | undefined> {
	const { services, caller } = call;
	const user = caller.user.id;
	const row = await services.readState.thread(user, channel, threadTs);
	if (row && row.latestReply > 0) return { active: true, since: row.since, cursor: row.lastRead };
	const conversation = await joinedConversation(call, channel);
	// Read from `history` before `source`: `history` waits until published effects are persisted.
	const root = await rootAt(services, conversation.id, threadTs);
	if (!root) throw new Rejection('thread_not_found', 'thread_ts: no such thread');
	const [memberships, follows] = await Promise.all([
		services.source.memberships(channel, [user]),
		services.source.follows(channel, threadTs, [user]),
	]);
	return followFrom(root, user, memberships.get(user), follows.get(user)) ?? undefined;
}
