import type { Message } from '../model/message.ts';
import { type ActionOf, accept, type Decision, refuse, refuseOutsider, type Situation } from './decision.ts';
import type { Follow } from './state.ts';
import { followOf } from './threads.ts';

/** Subscribing to a thread and ending it. */

export function decideFollow(situation: Situation, action: ActionOf<'follow'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = refuseOutsider(situation);
	if (outsider) return outsider;
	if (conversation.archived) return refuse('is_archived');
	const root = liveRoot(situation, action.threadTs);
	if (!root) return refuse('thread_not_found');
	const already = followOf(state, root, actor);
	if (already) return accept({ unchanged: true, follow: already });
	const newest = state.threads.get(root.ts)?.replies.at(-1)?.ts ?? root.ts;
	// What is not there yet was not read.
	const follow: Follow = { cursor: Math.min(action.lastRead ?? newest, newest), active: true, since: at };
	return accept(
		{ follow },
		{ type: 'followed', conversation, at, user: actor, threadTs: root.ts, cursor: follow.cursor },
	);
}

/** Ending what has ended, or what is gone, is no error. */
export function decideUnfollow(situation: Situation, action: ActionOf<'unfollow'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = refuseOutsider(situation);
	if (outsider) return outsider;
	const root = liveRoot(situation, action.threadTs);
	if (!root || !followOf(state, root, actor)) return accept({ unchanged: true });
	return accept({}, { type: 'unfollowed', conversation, at, user: actor, threadTs: root.ts });
}

/** Who wrote a root follows it before there is a reply, and without a record: only this rule knows. */
export function decideFollowStatus(situation: Situation, action: ActionOf<'follow_status'>): Decision {
	const outsider = refuseOutsider(situation);
	if (outsider) return outsider;
	const root = liveRoot(situation, action.threadTs);
	if (!root) return refuse('thread_not_found');
	const follow = followOf(situation.state, root, situation.actor);
	return accept(follow ? { follow } : {});
}

/** The root of a thread that can still be followed: a deleted one only while it has replies. */
function liveRoot({ state }: Situation, threadTs: number): Message | undefined {
	const root = state.messages.get(threadTs);
	if (!root || root.threadTs !== null) return undefined;
	const vanished = root.deleted && (state.threads.get(threadTs)?.replies.length ?? 0) === 0;
	return vanished ? undefined : root;
}
