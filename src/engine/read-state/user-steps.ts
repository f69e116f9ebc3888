import { joined, left, withCursor } from '../../model/membership.ts';
import { inTimeline } from '../../model/message.ts';
import { type FollowView, type MembershipView, NOTHING_AHEAD } from '../../model/views.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { Change } from '../ports/views.ts';

/** What effects and a user's own changes do to the user's state. Pure; the same on both engines. */

/** Stamps show which changes are old when effects are applied again. On one machine that never happens, and they are 0. */
export interface StampedMembership extends MembershipView {
	/** Stamp of the newest join: older changes have no effect. */
	readonly joined: number;
	/** Stamp of its newest change. */
	readonly at: number;
	/** The store had marks of this membership, but not its join. The user becomes a member when that join is applied. */
	readonly isJoinAwaited?: boolean;
}

export interface StampedFollow extends FollowView {
	readonly at: number;
}

/** A user's state that can be changed. */
export interface UserState {
	membership(conversation: string): StampedMembership | undefined;
	follow(conversation: string, threadTs: number): StampedFollow | undefined;
	/** Roots of the threads that the user follows there. */
	followedIn(conversation: string): readonly number[];
	setMembership(conversation: string, membership: StampedMembership): void;
	/** Null: the user no longer follows the thread. */
	setFollow(conversation: string, threadTs: number, follow: StampedFollow | null): void;
}

type Posted = Extract<Effect, { type: 'posted' }>;

/** Can be applied repeatedly: stamps show which steps are old. */
export type Step = { readonly conversation: string; readonly at: number } & (
	| { readonly type: 'join'; readonly cursor: number }
	| { readonly type: 'leave' }
	| { readonly type: 'follow'; readonly threadTs: number; readonly cursor: number }
	| { readonly type: 'unfollow'; readonly threadTs: number }
	/** The user's own message. */
	| { readonly type: 'post'; readonly effect: Posted }
);

/** What a step depends on besides the user's state. */
export interface StepContext {
	/** Whether the author had read everything before the post: in this thread, or (null) in the timeline. */
	readonly wasCaughtUp: (
		post: Posted,
		root: number | null,
		cursor: number,
		ahead: ReadonlySet<number>,
	) => boolean;
	/** Whether the post is applied for the first time. */
	readonly isNew: (post: Posted) => boolean;
}

/** A cursor that a post or rejoin moved, now or when the same step was applied before. `threadTs` null: that of the conversation. */
export interface MovedCursor {
	readonly by: 'post' | 'join';
	readonly conversation: string;
	readonly threadTs: number | null;
	/** The ahead set before. */
	readonly ahead: ReadonlySet<number>;
}

/** The steps of each user in a batch of effects, in order. */
export function stepsOf(effects: readonly Effect[]): Map<string, Step[]> {
	const steps = new Map<string, Step[]>();
	const add = (user: string, step: Step): void => {
		const known = steps.get(user);
		if (known) known.push(step);
		else steps.set(user, [step]);
	};
	for (const effect of effects) {
		const { at } = effect;
		const conversation = effect.conversation.id;
		switch (effect.type) {
			case 'created':
				for (const user of effect.members) add(user, { conversation, at, type: 'join', cursor: 0 });
				break;
			case 'joined':
				for (const user of effect.users) add(user, { conversation, at, type: 'join', cursor: effect.cursor });
				break;
			case 'left':
				add(effect.user, { conversation, at, type: 'leave' });
				break;
			case 'followed':
				add(effect.user, {
					conversation,
					at,
					type: 'follow',
					threadTs: effect.threadTs,
					cursor: effect.cursor,
				});
				break;
			case 'unfollowed':
				add(effect.user, { conversation, at, type: 'unfollow', threadTs: effect.threadTs });
				break;
			case 'posted':
				add(effect.message.user, { conversation, at, type: 'post', effect });
		}
	}
	return steps;
}

/** Returns the cursors that the steps moved, to be persisted. */
export function applySteps(state: UserState, steps: readonly Step[], context: StepContext): MovedCursor[] {
	const moved: MovedCursor[] = [];
	for (const step of steps) {
		const { conversation, at } = step;
		if (step.type === 'post') applyPost(state, step.effect, context, moved);
		else if (step.type === 'join') {
			const former = state.membership(conversation);
			if (former?.isJoinAwaited && former.joined === at)
				state.setMembership(conversation, { ...former, member: true, isJoinAwaited: false });
			const isNew = !former || former.joined < at;
			if (isNew) state.setMembership(conversation, { ...joined(former, step.cursor), joined: at, at });
			// A rejoin is also reported if it is applied again: perhaps it was not persisted.
			const isAgain = former?.joined === at && former.revision > 0;
			if (former && (isNew || isAgain))
				moved.push({ by: 'join', conversation, threadTs: null, ahead: former.ahead });
		} else if (step.type === 'leave') applyLeave(state, conversation, at);
		else {
			const follow = state.follow(conversation, step.threadTs);
			if (follow && follow.since >= at) continue;
			if (step.type === 'follow')
				state.setFollow(conversation, step.threadTs, { cursor: step.cursor, since: at, at });
			else if (follow) state.setFollow(conversation, step.threadTs, null);
		}
	}
	return moved;
}

function applyLeave(state: UserState, conversation: string, at: number): void {
	const membership = state.membership(conversation);
	if (membership?.member && membership.joined < at)
		state.setMembership(conversation, { ...left(membership), at });
	// Also after a rejoin: a replay may have begun a follow again that this leave ended.
	for (const threadTs of state.followedIn(conversation)) {
		const follow = state.follow(conversation, threadTs);
		if (follow && follow.since < at) state.setFollow(conversation, threadTs, null);
	}
}

/** A post moves the cursor of an author who had read everything before it: in the timeline, and in its thread. */
function applyPost(
	state: UserState,
	effect: Posted,
	{ wasCaughtUp, isNew }: StepContext,
	moved: MovedCursor[],
): void {
	const { conversation, threadTs, ts } = effect.message;
	// In a replay, later changes by the user win. A cursor that the post has moved before is reported again: perhaps it was not persisted.
	const moves = (root: number | null, cursor: number, at: number, ahead: ReadonlySet<number>): boolean => {
		const isThere = cursor === ts && at >= ts;
		const isMoved = !isThere && (at <= ts || isNew(effect)) && wasCaughtUp(effect, root, cursor, ahead);
		if (isThere || isMoved) moved.push({ by: 'post', conversation, threadTs: root, ahead });
		return isMoved;
	};
	const membership = inTimeline(effect.message) ? state.membership(conversation) : undefined;
	if (membership?.member && moves(null, membership.cursor, membership.at, membership.ahead))
		state.setMembership(conversation, {
			...membership,
			cursor: ts,
			ahead: NOTHING_AHEAD,
			at: later(ts, membership),
		});
	const follow = threadTs === null ? undefined : state.follow(conversation, threadTs);
	if (threadTs !== null && follow && moves(threadTs, follow.cursor, follow.at, NOTHING_AHEAD))
		state.setFollow(conversation, threadTs, { ...follow, cursor: ts, at: later(ts, follow) });
}

/** A stamp after the newest change, even if that one was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at >= stamp ? at + 1 : stamp);

/** Applies a change that the user makes: the membership or the follow exists. */
export function applyChange(
	state: UserState,
	change: Exclude<Change, { type: 'activity' }>,
	at: number,
): void {
	const { conversation } = change;
	if (change.type === 'thread_cursor') {
		const follow = state.follow(conversation, change.threadTs) as StampedFollow;
		state.setFollow(conversation, change.threadTs, { ...follow, cursor: change.cursor, at });
		return;
	}
	const membership = state.membership(conversation) as StampedMembership;
	if (change.type === 'cursor')
		state.setMembership(conversation, { ...withCursor(membership, change.cursor), at });
	else state.setMembership(conversation, { ...membership, muted: change.muted, level: change.level, at });
}
