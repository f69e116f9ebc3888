import type { History, StateSource } from '../engine/ports/store.ts';
import type { Command } from '../sequencer/commands.ts';
import { trimTail } from '../sequencer/evolve.ts';
import { missingNeeds, type Needs } from '../sequencer/needs.ts';
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
 * The states of the conversations that this worker owns. A state is loaded on first use
 * and evicted when idle, but not before its changes are durable.
 */

const TAIL_LOADED = 32;
const SENDS_LOADED = 16_384;

/**
 * With the store in this process, looking up one send costs a thousandth of loading the sends of a day: only a conversation
 * with many posts is worth the load.
 */
export const SEND_LOOKUPS_IN_PROCESS = 64;

interface OwnedConversation {
	readonly state: ConversationState;
	usedAt: number;
}

export class Conversations {
	private readonly owned = new Map<string, OwnedConversation>();

	constructor(
		private readonly source: StateSource,
		private readonly history: History,
		private readonly nowMs: () => number,
		/**
		 * Called after each load. Rejects if the loaded state does not match this worker's: another owner has written to the store, or
		 * the store lost transactions.
		 */
		private readonly guard: () => Promise<void> = async () => undefined,
		/** How many sends of a conversation are looked up one by one before all sends of the last day are loaded. */
		private readonly sendLookups = 0,
	) {}

	/** Resolves to the state of the conversation, with everything that this command needs. */
	async ready(command: Command): Promise<ConversationState> {
		const state = this.stateOf(command.conversation);
		for (let needs = missingNeeds(state, command); needs !== null; needs = missingNeeds(state, command))
			await this.loadGuarded(command.conversation, state, needs);
		return state;
	}

	/** Whether this is still the conversation's state: false if it was dropped during an await. */
	isCurrent(conversation: string, state: ConversationState): boolean {
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
			// The store may still have the pin of a message that was just deleted.
			const remaining = pins.filter(({ ts }) => !state.messages.get(ts)?.deleted);
			state.pins = new Map(remaining.map((pin) => [pin.ts, pin]));
		}
		for (const { ts, user } of needs.reactions) await this.loadReactions(conversation, state, ts, user);
	}

	/** Keeps reactions that are already in the state: they may not be durable yet. */
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

	/** Loads older entries after all of the tail was deleted; skips entries whose deletion is not durable yet. */
	private async loadTail(conversation: string, state: ConversationState): Promise<void> {
		const { head } = state;
		if (!head) return;
		const entries = await this.source.timelineEntries(conversation, 0, head.tailFloor - 1, TAIL_LOADED);
		head.tail = entries.map(({ ts }) => ts).filter((ts) => !state.messages.get(ts)?.deleted);
		head.tailFloor = entries[0]?.ts ?? 0;
		head.tailIsAll = entries.length < TAIL_LOADED;
	}

	/** Loads the sends of the last day, at most the newest `SENDS_LOADED`. */
	private async loadSends(conversation: string, state: ConversationState, after: number): Promise<void> {
		const sends = await this.source.recentSends(conversation, after, SENDS_LOADED);
		const [oldest] = sends;
		const isAll = sends.length < SENDS_LOADED || !oldest;
		const seen = new SendsSeen(isAll ? after : oldest.ts - 1, sends.at(-1)?.ts ?? after);
		for (const { user, clientMsgId, ts } of sends) seen.add(sendKey(user, clientMsgId), ts);
		// Sends decided before this load may not be durable yet.
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

	/** Call between commands: evicts old members, messages and threads of the conversation, if their changes are durable. */
	evictOld(conversation: string, durable: number): void {
		const state = this.owned.get(conversation)?.state;
		if (!state) return;
		const stamp = state.head?.stamp ?? 0;
		if (state.head) trimTail(state.head, durable);
		state.members.evictOld(stamp, durable);
		state.messages.evictOld(stamp, durable);
		state.threads.evictOld(stamp, durable);
		state.sends.evictOld(stamp, durable);
		state.reactions.evictOld(stamp, durable);
		state.reacted.evictOld(stamp, durable);
		state.sendsSeen?.evictOld(stamp, durable);
	}

	/** Evicts conversations that were not used since `before` (ms), if their newest change is durable. */
	evict(before: number, isDurable: (id: string, stamp: number) => boolean): void {
		for (const [id, { usedAt, state }] of this.owned)
			if (usedAt < before && isDurable(id, state.head?.stamp ?? 0)) this.owned.delete(id);
	}

	/** Drops all states, because their changes could not be persisted. */
	clear(): void {
		this.owned.clear();
	}
}
