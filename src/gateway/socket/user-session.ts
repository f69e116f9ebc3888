import type { AlreadyTold } from './already-told.ts';
import { type Audience, NOT_SEATED, type Seated } from './audience.ts';
import type { Connection } from './connection.ts';

/** A user with at least one socket here. */
export class UserSession implements Seated {
	readonly connections: Connection[] = [];
	seat: number = NOT_SEATED.seat;
	rooms: Uint32Array = NOT_SEATED.rooms;
	/** It is known what the user is in, and listened to. */
	isListening = false;
	/** Joins and leaves told before that, where there were any. */
	early: Map<string, boolean> | undefined;
	/** What the user has joined and is not listened to yet, with the stamp of the join. */
	joining: Map<string, number> | undefined;
	/** By topic, what it was told because it had missed it: the same may still be on its way live. */
	caughtUp: Map<string, AlreadyTold> | undefined;

	constructor(
		readonly user: string,
		readonly team: string,
		private readonly audience: Pick<Audience<UserSession>, 'isListening'>,
	) {}

	/** As far as its sockets were told. */
	isIn(conversation: string): boolean {
		return this.joining?.has(conversation) || this.audience.isListening(this, conversation);
	}
}
