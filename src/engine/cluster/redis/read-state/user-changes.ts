import { inTimeline } from '../../../../model/message.ts';
import { NOTHING_AHEAD } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import { packFollow, packMembership, type StoredMembership, unpackFollow } from './packing.ts';
import { factOf } from './read-facts.ts';
import { type Fields, followField, followIn, membershipField, membershipIn } from './user-state.ts';

/** What effects change about users, as fields of their states. Pure. */

/** Each can be applied again: stamps show what is old. */
export type UserChange =
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

/** A message of the user's own. */
export interface OwnPost {
	readonly type: 'post';
	readonly effect: Extract<Effect, { type: 'posted' }>;
	/** Applied for the first time. */
	readonly isNew: boolean;
}

export type Step = UserChange | OwnPost;

/** Whether the author had read everything before the post: in this thread, or (null) in the timeline. */
export type WasCaughtUp = (
	post: OwnPost,
	root: number | null,
	cursor: number,
	ahead: ReadonlySet<number>,
) => boolean;

/** What a batch of effects on a conversation does to each user, in order. `results`: 1 where an effect was applied for the first time. */
export function stepsOf(effects: readonly Effect[], results: readonly number[]): Map<string, Step[]> {
	const steps = new Map<string, Step[]>();
	const add = (user: string, step: Step): void => {
		const theirs = steps.get(user);
		if (theirs) theirs.push(step);
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

/** The fields that these steps depend on; null for all of them. */
export function namesOf(steps: readonly Step[]): string[] | null {
	const names = new Set<string>();
	for (const step of steps) {
		// Leaving ends what is followed there, whatever that is.
		if (step.type === 'leave') return null;
		const place = step.type === 'post' ? step.effect.message : step;
		const threadTs = 'threadTs' in place ? place.threadTs : null;
		// Broadcast replies are in the timeline too.
		const isInTimeline = step.type === 'post' ? inTimeline(step.effect.message) : threadTs === null;
		if (isInTimeline) names.add(membershipField(place.conversation));
		if (threadTs !== null) names.add(followField(place.conversation, threadTs));
	}
	return [...names];
}

export interface Stepped {
	/** The fields that become others, '' for none. */
	readonly changed: Fields;
	/** Stamp of the newest change. */
	readonly at: number;
	/**
	 * Cursors that moved, each as it is in the end, for the log. Also of who came back to a conversation: their marks of before may still
	 * be on their way to the store, which then could not tell what their revision goes on from.
	 */
	readonly facts: readonly ReadFact[];
}

export function stepped(user: string, read: Fields, steps: readonly Step[], caughtUp: WasCaughtUp): Stepped {
	const fields: Record<string, string> = { ...read };
	const changed: Record<string, string> = {};
	const facts = new Map<string, ReadFact>();
	let newest = 0;
	for (const step of steps) {
		const after = step.type === 'post' ? postedFields(fields, step, caughtUp) : changedFields(fields, step);
		const isTold = step.type === 'post' || (step.type === 'join' && membershipIn(fields, step.conversation));
		for (const [field, value] of Object.entries(after)) {
			const fact = isTold ? factOf(user, field, value) : undefined;
			if (fact) facts.set(field, fact);
			newest = Math.max(newest, fact?.at ?? (step.type === 'post' ? 0 : step.at));
		}
		Object.assign(fields, after);
		Object.assign(changed, after);
	}
	return { changed, at: newest, facts: [...facts.values()] };
}

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
function postedFields(fields: Fields, post: OwnPost, caughtUp: WasCaughtUp): Fields {
	const { effect, isNew } = post;
	const { conversation, threadTs, ts } = effect.message;
	const changed: Record<string, string> = {};
	// While it is being replayed, what the user did since stands.
	const stands = ({ at }: { readonly at: number }): boolean => isNew || at <= ts;
	const membership = inTimeline(effect.message) ? membershipIn(fields, conversation) : undefined;
	if (membership && stands(membership) && caughtUp(post, null, membership.cursor, membership.ahead))
		changed[membershipField(conversation)] = packMembership({
			...membership,
			cursor: ts,
			at: later(ts, membership),
			ahead: NOTHING_AHEAD,
		});
	const follow = threadTs === null ? undefined : followIn(fields, conversation, threadTs);
	if (threadTs !== null && follow && stands(follow) && caughtUp(post, threadTs, follow.cursor, NOTHING_AHEAD))
		changed[followField(conversation, threadTs)] = packFollow({
			...follow,
			cursor: ts,
			at: later(ts, follow),
		});
	return changed;
}

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);

/** The fields that become others, '' for none; empty where nothing changes. */
function changedFields(fields: Fields, change: UserChange): Fields {
	const { conversation, at } = change;
	if (change.type === 'join' || change.type === 'leave') {
		const former = membershipIn(fields, conversation);
		if (former && former.joined >= at) return {};
		return change.type === 'join'
			? { [membershipField(conversation)]: packMembership(joined(former, at, change.cursor)) }
			: left(fields, former, conversation, at);
	}
	const follow = followIn(fields, conversation, change.threadTs);
	if (follow && follow.since >= at) return {};
	const field = followField(conversation, change.threadTs);
	if (change.type === 'follow') return { [field]: packFollow({ cursor: change.cursor, since: at, at }) };
	return follow ? { [field]: '' } : {};
}

/** Rejoining starts again, with a revision above the old one. */
const joined = (former: StoredMembership | undefined, at: number, cursor: number): StoredMembership => ({
	member: true,
	muted: false,
	level: 'all',
	cursor,
	revision: former ? former.revision + 1 : 0,
	joined: at,
	at,
	ahead: NOTHING_AHEAD,
});

function left(
	fields: Fields,
	former: StoredMembership | undefined,
	conversation: string,
	at: number,
): Fields {
	const changed: Record<string, string> = {};
	if (former?.member)
		changed[membershipField(conversation)] = packMembership({
			...former,
			member: false,
			at,
			ahead: NOTHING_AHEAD,
		});
	const prefix = `f:${conversation}:`;
	for (const [field, packed] of Object.entries(fields))
		if (field.startsWith(prefix) && packed !== '' && unpackFollow(packed).since < at) changed[field] = '';
	return changed;
}
