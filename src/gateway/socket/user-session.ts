import type { Connection } from './connection.ts';
import { type ListenerRegistry, NOT_REGISTERED, type RegisteredListener } from './listener-registry.ts';
import type { SentEvents } from './sent-events.ts';

/** A user with at least one socket at this gateway. */
export class UserSession implements RegisteredListener {
	readonly connections: Connection[] = [];
	slot: number = NOT_REGISTERED.slot;
	topics: Uint32Array = NOT_REGISTERED.topics;
	/** The user's conversations are known and subscribed. */
	isListening = false;
	/** Joins and leaves that arrived before `isListening`. */
	changesBeforeListening: Map<string, boolean> | undefined;
	/** Conversations that the user joined and that are not subscribed yet, with the stamp of the join. */
	joining: Map<string, number> | undefined;
	/** By topic: the missed events that were sent after a join. The same events may still arrive live. */
	sentAfterJoin: Map<string, SentEvents> | undefined;

	constructor(
		readonly user: string,
		readonly team: string,
		private readonly registry: Pick<ListenerRegistry<UserSession>, 'isListening'>,
	) {}

	/** Whether the user is a member, even if the subscription is still being made. */
	isIn(conversation: string): boolean {
		return this.joining?.has(conversation) || this.registry.isListening(this, conversation);
	}
}
