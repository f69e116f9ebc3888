import { joined, left, withCursor } from '../../../../model/membership.ts';
import { inTimeline } from '../../../../model/message.ts';
import { NOTHING_AHEAD } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import { packFollow, packMembership, type RedisMembership, unpackFollow } from './packing.ts';
import { factOf } from './read-facts.ts';
import { type Fields, followField, followIn, membershipField, membershipIn } from './user-state.ts';

/** What effects change about users, as fields of their states. Pure. */

/** A join, leave, follow or unfollow. Can be applied repeatedly: stamps show which changes are old. */
export type MembershipStep =
	| { readonly type: 'join'; readonly conversation: string; readonly at: number; readonly cursor: number }
	| { readonly type: 'leave'; readonly conversation: string; readonly at: number }
	| {
			readonly type: 'follow';
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
			readonly cursor: number;
	  }
	| {
			readonly type: 'unfollow';
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
	  };

/** A message by the user. */
export interface OwnPost {
	readonly type: 'post';
	readonly effect: Extract<Effect, { type: 'posted' }>;
	/** Applied for the first time. */
	readonly isNew: boolean;
}

export type Step = MembershipStep | OwnPost;

/** Whether the author had read everything before the post: in this thread, or (null) in the timeline. */
export type WasCaughtUp = (
	post: OwnPost,
	root: number | null,
	cursor: number,
	ahead: ReadonlySet<number>,
) => boolean;

/** The steps of each user in a batch of effects on one conversation, in order. `results`: 1 if the effect was applied for the first time. */
export function stepsOf(effects: readonly Effect[], results: readonly number[]): Map<string, Step[]> {
	const steps = new Map<string, Step[]>();
	const add = (user: string, step: Step): void => {
		const known = steps.get(user);
		if (known) known.push(step);
		else steps.set(user, [step]);
	};
	for (const [index, effect] of effects.entries()) {
		const { at } = effect;
		const conversation = effect.conversation.id;
		switch (effect.type) {
			case 'created':
				for (const user of effect.members) add(user, { type: 'join', conversation, at, cursor: 0 });
				break;
			case 'joined':
				for (const user of effect.users) add(user, { type: 'join', conversation, at, cursor: effect.cursor });
				break;
			case 'left':
				add(effect.user, { type: 'leave', conversation, at });
				break;
			case 'followed': {
				const { user, threadTs, cursor } = effect;
				add(user, { type: 'follow', conversation, threadTs, at, cursor });
				break;
			}
			case 'unfollowed':
				add(effect.user, { type: 'unfollow', conversation, threadTs: effect.threadTs, at });
				break;
			case 'posted':
				add(effect.message.user, { type: 'post', effect, isNew: results[index] === 1 });
		}
	}
	return steps;
}

/** Fields that these steps depend on; null: all. */
export function fieldsNeededBy(steps: readonly Step[]): string[] | null {
	const names = new Set<string>();
	for (const step of steps) {
		// Leaving ends all follows in the conversation.
		if (step.type === 'leave') return null;
		const target = step.type === 'post' ? step.effect.message : step;
		const threadTs = 'threadTs' in target ? target.threadTs : null;
		// Broadcast replies are in the timeline too.
		const isInTimeline = step.type === 'post' ? inTimeline(step.effect.message) : threadTs === null;
		if (isInTimeline) names.add(membershipField(target.conversation));
		if (threadTs !== null) names.add(followField(target.conversation, threadTs));
	}
	return [...names];
}

export interface StepsResult {
	/** Changed fields; '' for absent. */
	readonly changed: Fields;
	/** Stamp of the newest change. */
	readonly at: number;
	/**
	 * Facts for the log: the final state of each moved cursor. Also for users who rejoin: marks of their former membership may not be
	 * persisted yet, and without the fact the store could not tell from which revision they continue.
	 */
	readonly facts: readonly ReadFact[];
}

export function computeSteps(
	user: string,
	read: Fields,
	steps: readonly Step[],
	caughtUp: WasCaughtUp,
): StepsResult {
	const fields: Record<string, string> = { ...read };
	const changed: Record<string, string> = {};
	const facts = new Map<string, ReadFact>();
	let newest = 0;
	for (const step of steps) {
		const after = step.type === 'post' ? postedFields(fields, step, caughtUp) : changedFields(fields, step);
		const isLogged =
			step.type === 'post' || (step.type === 'join' && membershipIn(fields, step.conversation));
		for (const [field, value] of Object.entries(after)) {
			const fact = isLogged ? factOf(user, field, value) : undefined;
			if (fact) facts.set(field, fact);
			newest = Math.max(newest, fact?.at ?? (step.type === 'post' ? 0 : step.at));
		}
		Object.assign(fields, after);
		Object.assign(changed, after);
	}
	return { changed, at: newest, facts: [...facts.values()] };
}

/** A post moves the cursor of an author who had read everything before it: in the timeline, and in its thread. */
function postedFields(fields: Fields, post: OwnPost, caughtUp: WasCaughtUp): Fields {
	const { effect, isNew } = post;
	const { conversation, threadTs, ts } = effect.message;
	const changed: Record<string, string> = {};
	// In a replay, later changes by the user win.
	const applies = ({ at }: { readonly at: number }): boolean => isNew || at <= ts;
	const membership = inTimeline(effect.message) ? membershipIn(fields, conversation) : undefined;
	if (membership && applies(membership) && caughtUp(post, null, membership.cursor, membership.ahead))
		changed[membershipField(conversation)] = packMembership({
			...withCursor(membership, { ts }),
			at: later(ts, membership),
		});
	const follow = threadTs === null ? undefined : followIn(fields, conversation, threadTs);
	if (
		threadTs !== null &&
		follow &&
		applies(follow) &&
		caughtUp(post, threadTs, follow.cursor, NOTHING_AHEAD)
	)
		changed[followField(conversation, threadTs)] = packFollow({
			...follow,
			cursor: ts,
			at: later(ts, follow),
		});
	return changed;
}

/** A stamp after the newest change, even if that one was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);

/** Changed fields, '' for absent; empty if nothing changes. */
function changedFields(fields: Fields, change: MembershipStep): Fields {
	const { conversation, at } = change;
	if (change.type === 'join' || change.type === 'leave') {
		const former = membershipIn(fields, conversation);
		if (former && former.joined >= at) {
			// A replay: the marks of this membership are in the store already, and its join is not.
			const isAwaited = change.type === 'join' && former.isAwaited && former.joined === at;
			const arrived = { ...former, member: true, isAwaited: false };
			return isAwaited ? { [membershipField(conversation)]: packMembership(arrived) } : {};
		}
		return change.type === 'join'
			? {
					[membershipField(conversation)]: packMembership({
						...joined(former, change.cursor),
						joined: at,
						at,
					}),
				}
			: leftFields(fields, former, conversation, at);
	}
	const follow = followIn(fields, conversation, change.threadTs);
	if (follow && follow.since >= at) return {};
	const field = followField(conversation, change.threadTs);
	if (change.type === 'follow') return { [field]: packFollow({ cursor: change.cursor, since: at, at }) };
	return follow ? { [field]: '' } : {};
}

function leftFields(
	fields: Fields,
	former: RedisMembership | undefined,
	conversation: string,
	at: number,
): Fields {
	const changed: Record<string, string> = {};
	if (former?.member) changed[membershipField(conversation)] = packMembership({ ...left(former), at });
	const prefix = `f:${conversation}:`;
	for (const [field, packed] of Object.entries(fields))
		if (field.startsWith(prefix) && packed !== '' && unpackFollow(packed).since < at) changed[field] = '';
	return changed;
}
