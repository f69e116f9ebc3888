import { Refusal } from '../../model/errors.ts';
import type { Follow } from '../../sequencer/state.ts';
import { followFrom } from '../../sequencer/threads.ts';
import { joined } from './access.ts';
import type { UserCall } from './method.ts';

/**
 * Whether the caller follows a thread. Answered by the read state where it knows the thread, and otherwise by the store: the
 * owner of the conversation is not asked, so that this works while no command can be decided.
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
	const gone = new Refusal('thread_not_found', 'thread_ts: no such thread');
	// Once this is read, the store has everything that was published to the conversation's members.
	const [root] = await services.history.messages(conversation.id, [threadTs]);
	if (!root || root.threadTs !== null) throw gone;
	if (root.deleted && (await services.history.threads(channel, [threadTs])).length === 0) throw gone;
	const [memberships, follows] = await Promise.all([
		services.source.memberships(channel, [user]),
		services.source.follows(channel, threadTs, [user]),
	]);
	return followFrom(root, user, memberships.get(user), follows.get(user)) ?? undefined;
}
