import type { Connection } from './connection.ts';

/** A user with at least one socket here. */
export interface UserSession {
	readonly user: string;
	readonly team: string;
	readonly connections: Connection[];
	/** What the user is in, a list, which takes a fifth of a set's memory; undefined until it is known. */
	conversations: string[] | undefined;
	/** Joins and leaves told before it was known. */
	readonly early: Map<string, boolean>;
	/** By topic, where it was told what it missed: live events up to this stamp may still be on their way. */
	caughtUp?: Map<string, number>;
}
