import { type ActionOf, accept, type Decision, reject, rejectOutsider, type Situation } from './decision.ts';
import type { Follow } from './state.ts';
import { followOf, rootOf } from './threads.ts';

/** Following and unfollowing a thread. */

export function decideFollow(situation: Situation, action: ActionOf<'follow'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = rejectOutsider(situation);
	if (outsider) return outsider;
	if (conversation.archived) return reject('is_archived');
	const root = rootOf(situation.state, action.threadTs);
	if (!root) return reject('thread_not_found');
	const current = followOf(state, root, actor);
	if (current) return accept({ unchanged: true, follow: current });
	const newest = state.threads.get(root.ts)?.replies.at(-1)?.ts ?? root.ts;
	// A user cannot have read beyond the newest reply.
	const follow: Follow = { cursor: Math.min(action.lastRead ?? newest, newest), active: true, since: at };
	return accept(
		{ follow },
		{ type: 'followed', conversation, at, user: actor, threadTs: root.ts, cursor: follow.cursor },
	);
}

/** Unfollowing a thread that the user does not follow, or that is gone, is no error. */
export function decideUnfollow(situation: Situation, action: ActionOf<'unfollow'>): Decision {
	const { state, conversation, actor, at } = situation;
	const outsider = rejectOutsider(situation);
	if (outsider) return outsider;
	const root = rootOf(situation.state, action.threadTs);
	if (!root || !followOf(state, root, actor)) return accept({ unchanged: true });
	return accept({}, { type: 'unfollowed', conversation, at, user: actor, threadTs: root.ts });
}

/** Only for log records of older releases: gateways now read the follow themselves (`src/gateway/http/threads.ts`). */
export function decideFollowStatus(situation: Situation, action: ActionOf<'follow_status'>): Decision {
	const outsider = rejectOutsider(situation);
	if (outsider) return outsider;
	const root = rootOf(situation.state, action.threadTs);
	if (!root) return reject('thread_not_found');
	const follow = followOf(situation.state, root, situation.actor);
	return accept(follow ? { follow } : {});
}
