import type { History, StateSource } from '../engine/ports/store.ts';
import type { Command } from '../sequencer/commands.ts';
import { trimTail } from '../sequencer/evolve.ts';
import { missing, type Needs } from '../sequencer/needs.ts';
import { SendsSeen } from '../sequencer/sends-seen.ts';
import {
	type ConversationState,
	emptyState,
	NEVER_JOINED,
	reactedKey,
	repliersOf,
	sendKey,
} from '../sequencer/state.ts';

/**
 * The conversations this worker owns, as far as their commands needed them. State is loaded on first use
 * and evicted when idle; changes stay until the store has them.
 */

const TAIL_LOADED = 32;
const SENDS_LOADED = 16_384;

/**
 * Where the store is in this process, looking one send up costs a thousandth of loading a day of them: only a conversation
 * that is posted to again and again is worth that.
 */
export const SEND_LOOKUPS_IN_PROCESS = 64;

interface Owned {
	readonly state: ConversationState;
	usedAt: number;
}

export class Conversations {
	private readonly owned = new Map<string, Owned>();

	constructor(
		private readonly source: StateSource,
		private readonly history: History,
		private readonly nowMs: () => number,
		/** Rejects where the store is not as this worker left it: what was loaded is another's then. */
		private readonly guard: () => Promise<void> = async () => undefined,
		/** Sends of a conversation that are looked up one by one before all of the last day are loaded. */
		private readonly sendLookups = 0,
	) {}

	/** Resolves to the state, with everything that deciding about this command needs. */
	async ready(command: Command): Promise<ConversationState> {
		const state = this.stateOf(command.conversation);
		for (let needs = missing(state, command); needs !== null; needs = missing(state, command))
			await this.loadGuarded(command.conversation, state, needs);
		return state;
	}

	/** Whether this still is the conversation's state: false where it was dropped while something was awaited. */
	has(conversation: string, state: ConversationState): boolean {
		return this.owned.get(conversation)?.state === state;
	}

	private async loadGuarded(conversation: string, state: ConversationState, needs: Needs): Promise<void> {
		await this.load(conversation, state, needs);
		await this.guard();
	}

	private stateOf(conversation: string): ConversationState {
		const owned = this.owned.get(conversation);
		if (owned) {
			owned.usedAt = this.nowMs();
			return owned.state;
		}
		const state = emptyState(this.sendLookups);
		this.owned.set(conversation, { state, usedAt: this.nowMs() });
		return state;
	}

	private async load(conversation: string, state: ConversationState, needs: Needs): Promise<void> {
		if (needs.head) await this.loadHead(conversation, state);
		if (needs.tail) await this.loadTail(conversation, state);
		if (needs.members.length > 0) {
			const found = await this.source.memberships(conversation, needs.members);
			for (const user of needs.members) state.members.set(user, found.get(user) ?? NEVER_JOINED);
		}
		if (needs.messages.length > 0) {
			const found = await this.history.messages(conversation, needs.messages);
			for (const ts of needs.messages) state.messages.set(ts, null);
			for (const message of found) state.messages.set(message.ts, message);
		}
		for (const threadTs of needs.threads) {
			const replies = await this.source.threadReplies(conversation, threadTs);
			state.threads.set(threadTs, {
				replies: [...replies],
				repliers: repliersOf(replies),
				follows: new Map(),
				followsKnown: false,
			});
		}
		await this.loadFollows(conversation, state, needs);
		if (needs.sendsAfter !== undefined) await this.loadSends(conversation, state, needs.sendsAfter);
		if (!state.sendsSeen) state.sendLookups -= needs.sends.length;
		for (const { user, clientMsgId } of needs.sends)
			state.sends.set(sendKey(user, clientMsgId), await this.source.send(conversation, user, clientMsgId));
		if (needs.pins) {
			const pins = await this.history.pins(conversation);
			// One whose message was deleted may still be stored.
			const remaining = pins.filter(({ ts }) => !state.messages.get(ts)?.deleted);
			state.pins = new Map(remaining.map((pin) => [pin.ts, pin]));
		}
		for (const { ts, user } of needs.reactions) await this.loadReactions(conversation, state, ts, user);
	}

	/** What was loaded or decided before stays: it may not be stored yet. */
	private async loadReactions(
		conversation: string,
		state: ConversationState,
		ts: number,
		user: string,
	): Promise<void> {
		const found = await this.source.reactionsFor(conversation, ts, user);
		if (!state.reactions.has(ts))
			state.reactions.set(ts, new Map(found.reactions.map((one) => [one.name, one])));
		const key = reactedKey(ts, user);
		if (!state.reacted.has(key)) state.reacted.set(key, new Set(found.own));
	}

	private async loadHead(conversation: string, state: ConversationState): Promise<void> {
		const head = await this.source.head(conversation);
		if (!head) {
			state.head = null;
			return;
		}
		const entries = await this.source.timelineEntries(conversation, 0, Number.MAX_SAFE_INTEGER, TAIL_LOADED);
		state.head = {
			...head,
			tail: entries.map(({ ts }) => ts),
			tailFloor: entries[0]?.ts ?? 0,
			tailIsAll: entries.length < TAIL_LOADED,
		};
	}

	/** The whole tail was deleted: goes further back, skipping deletions that are not stored yet. */
	private async loadTail(conversation: string, state: ConversationState): Promise<void> {
		const { head } = state;
		if (!head) return;
		const entries = await this.source.timelineEntries(conversation, 0, head.tailFloor - 1, TAIL_LOADED);
		head.tail = entries.map(({ ts }) => ts).filter((ts) => !state.messages.get(ts)?.deleted);
		head.tailFloor = entries[0]?.ts ?? 0;
		head.tailIsAll = entries.length < TAIL_LOADED;
	}

	/** Of the last day; of more than so many the newest. */
	private async loadSends(conversation: string, state: ConversationState, after: number): Promise<void> {
		const sends = await this.source.recentSends(conversation, after, SENDS_LOADED);
		const [oldest] = sends;
		const isAll = sends.length < SENDS_LOADED || !oldest;
		const seen = new SendsSeen(isAll ? after : oldest.ts - 1, sends.at(-1)?.ts ?? after);
		for (const { user, clientMsgId, ts } of sends) seen.add(sendKey(user, clientMsgId), ts);
		// Sends decided before this load may not be stored yet.
		for (const key of state.sends.keys()) {
			const ts = state.sends.get(key);
			if (typeof ts === 'number') seen.add(key, ts);
		}
		state.sendsSeen = seen;
	}

	private async loadFollows(conversation: string, state: ConversationState, needs: Needs): Promise<void> {
		const usersOf = Map.groupBy(needs.follows, ({ threadTs }) => threadTs);
		for (const [threadTs, wanted] of usersOf) {
			const users = wanted.map(({ user }) => user);
			const found = await this.source.follows(conversation, threadTs, users);
			for (const user of users) state.threads.get(threadTs)?.follows.set(user, found.get(user) ?? null);
		}
	}

	/** Between commands: lets the oldest go, of what the store has. */
	turn(conversation: string, durable: number): void {
		const state = this.owned.get(conversation)?.state;
		if (!state) return;
		const stamp = state.head?.stamp ?? 0;
		if (state.head) trimTail(state.head, durable);
		state.members.turn(stamp, durable);
		state.messages.turn(stamp, durable);
		state.threads.turn(stamp, durable);
		state.sends.turn(stamp, durable);
		state.reactions.turn(stamp, durable);
		state.reacted.turn(stamp, durable);
		state.sendsSeen?.turn(stamp, durable);
	}

	/** Evicts conversations not used since `before` (ms) whose newest change the store has. */
	evict(before: number, isStored: (id: string, stamp: number) => boolean): void {
		for (const [id, { usedAt, state }] of this.owned)
			if (usedAt < before && isStored(id, state.head?.stamp ?? 0)) this.owned.delete(id);
	}

	/** Forgets everything: what was decided could not be stored. */
	clear(): void {
		this.owned.clear();
	}
}
