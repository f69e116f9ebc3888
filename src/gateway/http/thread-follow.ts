import { Refusal } from '../../model/errors.ts';
import type { Follow } from '../../sequencer/state.ts';
import { followFrom } from '../../sequencer/threads.ts';
import { joined } from './access.ts';
import type { UserCall } from './method.ts';

/**
 * Whether the caller follows a thread. The read state answers if it knows the thread, otherwise the store. It does
 * not involve the conversation's owner, so it works while no worker is running.
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
	const conversation = await joined(call, channel);
	const noThread = new Refusal('thread_not_found', 'thread_ts: no such thread');
	// After this read, the store has everything that was published to the conversation's members.
	const [root] = await services.history.messages(conversation.id, [threadTs]);
	if (!root || root.threadTs !== null) throw noThread;
	if (root.deleted && (await services.history.threads(channel, [threadTs])).length === 0) throw noThread;
	const [memberships, follows] = await Promise.all([
		services.source.memberships(channel, [user]),
		services.source.follows(channel, threadTs, [user]),
	]);
	return followFrom(root, user, memberships.get(user), follows.get(user)) ?? undefined;
}
