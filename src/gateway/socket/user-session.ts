import type { Connection } from './connection.ts';
import { type ListenerRegistry, NOT_SEATED, type Seated } from './listener-registry.ts';
import type { SentEvents } from './sent-events.ts';

/** A user with at least one socket here. */
export class UserSession implements Seated {
	readonly connections: Connection[] = [];
	seat: number = NOT_SEATED.seat;
	rooms: Uint32Array = NOT_SEATED.rooms;
	/** It is known what the user is in, and listened to. */
	isListening = false;
	/** Joins and leaves that arrived before that, if any. */
	early: Map<string, boolean> | undefined;
	/** What the user has joined and is not listened to yet, with the stamp of the join. */
	joining: Map<string, number> | undefined;
	/** By topic, the missed events that it was sent: the same events may still arrive live. */
	caughtUp: Map<string, SentEvents> | undefined;

	constructor(
		readonly user: string,
		readonly team: string,
		private readonly audience: Pick<ListenerRegistry<UserSession>, 'isListening'>,
	) {}

	/** The stamp up to which its sockets were sent events. */
	isIn(conversation: string): boolean {
		return this.joining?.has(conversation) || this.audience.isListening(this, conversation);
	}
}
