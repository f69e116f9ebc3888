import type { Connection } from './connection.ts';
import {
	type ListenerRegistry,
	NOT_REGISTERED,
	type RegisteredListener,
	type SlotNumbers,
} from './listener-registry.ts';
import type { SentEvents } from './sent-events.ts';

/** Something to send that waits until the user's joins are complete. */
export interface Held {
	/** The join that decides whether it is sent; null: it is always sent. */
	readonly join: object | null;
	/** The position of a client that received it; undefined if it changes no position. */
	readonly at: number | undefined;
	readonly send: () => void;
}

/** A user with at least one socket at this gateway. */
export class UserSession implements RegisteredListener {
	slot: number = NOT_REGISTERED.slot;
	topics: SlotNumbers = NOT_REGISTERED.topics;
	/** Joins and leaves that arrived before `isListening`. */
	changesBeforeListening: Map<string, boolean> | undefined;
	/** Conversations that the user joined and that are not subscribed yet, with the stamp of the join. */
	joining: Map<string, number> | undefined;
	/** While a join is not complete: everything that has to be sent afterwards, in order (`LiveJoins`). */
	held: Held[] | undefined;
	/** By topic: the missed events that were sent after a join. The same events may still arrive live. */
	sentAfterJoin: Map<string, SentEvents> | undefined;

	constructor(
		readonly user: string,
		readonly connections: Connection[],
		private readonly registry: Pick<ListenerRegistry<UserSession>, 'isListening'>,
	) {}

	/** The user's conversations are known and subscribed. */
	get isListening(): boolean {
		return this.slot !== NOT_REGISTERED.slot;
	}

	/** Runs the work after everything that is held; at once if nothing is. `at`: the position of a client that received what it sends. */
	onceSent(work: () => void, at?: number): void {
		if (this.held) this.held.push({ join: null, at, send: work });
		else work();
	}

	/** Whether the user is a member, even if the subscription is still being made. */
	isIn(conversation: string): boolean {
		return this.joining?.has(conversation) || this.registry.isListening(this, conversation);
	}
}
