import { checkInvariant } from '../model/invariants.ts';
import { inTimeline } from '../model/message.ts';
import type { Pin } from '../model/pins.ts';
import { firstAtOrAfter } from '../model/timeline.ts';
import type { Effect } from './effects.ts';
import { SendsSeen } from './sends-seen.ts';
import {
	type ConversationState,
	type Head,
	NO_THREAD,
	reactedKey,
	repliersOf,
	sendKey,
	type Thread,
} from './state.ts';

/** Applies an effect to the state that it was decided on. Replaying the log repeats the same steps. */

const TAIL_LONGEST = 64;
const TAIL_KEPT = 32;

export function evolve(state: ConversationState, effect: Effect): void {
	if (effect.type === 'created') {
		state.head = {
			conversation: effect.conversation,
			stamp: effect.at,
			lastTs: 0,
			tail: [],
			tailFloor: 0,
			tailIsAll: true,
		};
		for (const user of effect.members) state.members.set(user, { member: true, joinedTs: effect.at });
		state.sendsSeen = new SendsSeen(0);
		return;
	}
	const { head } = state;
	if (!head) throw new Error(`cannot apply effect ${effect.type}: the conversation is not loaded`);
	checkInvariant('stamps_rise', effect.at >= head.stamp);
	head.stamp = effect.at;
	head.conversation = effect.conversation;
	switch (effect.type) {
		case 'posted':
			posted(state, head, effect);
			break;
		case 'edited':
			state.messages.set(effect.message.ts, effect.message);
			break;
		case 'deleted':
			deleted(state, head, effect);
			break;
		case 'reacted':
			reacted(state, effect);
			break;
		case 'pinned':
			pin(state, effect.ts, effect.added ? { ts: effect.ts, user: effect.user, at: effect.at } : null);
			break;
		case 'joined':
			for (const user of effect.users) state.members.set(user, { member: true, joinedTs: effect.at });
			break;
		case 'left':
			state.members.set(effect.user, {
				member: false,
				joinedTs: state.members.get(effect.user)?.joinedTs ?? 0,
			});
			break;
		case 'followed':
			threadOf(state, effect.threadTs).follows.set(effect.user, {
				cursor: effect.cursor,
				active: true,
				since: effect.at,
			});
			break;
		case 'unfollowed':
			threadOf(state, effect.threadTs).follows.set(effect.user, {
				cursor: 0,
				active: false,
				since: effect.at,
			});
			break;
	}
}

function posted(state: ConversationState, head: Head, effect: Extract<Effect, { type: 'posted' }>): void {
	const { message } = effect;
	state.messages.set(message.ts, message);
	if (message.clientMsgId !== null) {
		const key = sendKey(message.user, message.clientMsgId);
		state.sends.set(key, message.ts);
		state.sendsSeen?.add(key, message.ts);
	}
	head.lastTs = message.ts;
	if (message.threadTs !== null) {
		const thread = threadOf(state, message.threadTs);
		thread.replies.push({ ts: message.ts, user: message.user });
		thread.repliers.add(message.user);
	} else state.threads.set(message.ts, NO_THREAD);
	if (!inTimeline(message)) return;
	head.tail.push(message.ts);
}

/**
 * Evicts old entries from the tail, but only durable ones: when deletes have emptied the tail, the worker loads older entries from the
 * store again (needs.ts).
 */
export function trimTail(head: Head, durable: number): void {
	if (head.tail.length <= TAIL_LONGEST) return;
	const firstUnwritten = firstAtOrAfter(head.tail, durable + 1);
	const remaining = head.tail.slice(Math.min(head.tail.length - TAIL_KEPT, firstUnwritten));
	if (remaining.length === head.tail.length) return;
	head.tail = remaining;
	head.tailFloor = remaining[0] ?? 0;
	head.tailIsAll = false;
}

function deleted(state: ConversationState, head: Head, effect: Extract<Effect, { type: 'deleted' }>): void {
	const { previous, message } = effect;
	state.messages.set(message.ts, message);
	if (state.pins?.has(message.ts)) pin(state, message.ts, null);
	head.tail = head.tail.filter((ts) => ts !== message.ts);
	if (previous.threadTs === null) return;
	const thread = threadOf(state, previous.threadTs);
	const replies = thread.replies.filter(({ ts }) => ts !== message.ts);
	state.threads.set(previous.threadTs, { ...thread, replies, repliers: repliersOf(replies) });
}

function reacted(state: ConversationState, effect: Extract<Effect, { type: 'reacted' }>): void {
	const { ts, name, user, added, current } = effect;
	const reactions = new Map(state.reactions.get(ts));
	if (current) reactions.set(name, current);
	else reactions.delete(name);
	state.reactions.set(ts, reactions);
	const own = new Set(state.reacted.get(reactedKey(ts, user)));
	if (added) own.add(name);
	else own.delete(name);
	state.reacted.set(reactedKey(ts, user), own);
}

function pin(state: ConversationState, ts: number, pinned: Pin | null): void {
	const pins = new Map(state.pins);
	if (pinned) pins.set(ts, pinned);
	else pins.delete(ts);
	state.pins = pins;
}

function threadOf(state: ConversationState, threadTs: number): Thread {
	const known = state.threads.get(threadTs) ?? NO_THREAD;
	const thread =
		known === NO_THREAD ? { ...known, replies: [], repliers: new Set<string>(), follows: new Map() } : known;
	state.threads.set(threadTs, thread);
	return thread;
}
