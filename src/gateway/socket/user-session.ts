import type { Connection } from './connection.ts';

/** Changes, by their stamps. */
export interface AlreadyTold {
	readonly stamps: ReadonlySet<number>;
	readonly last: number;
}

/** A user with at least one socket here. */
export interface UserSession {
	readonly user: string;
	readonly team: string;
	readonly connections: Connection[];
	/** What the user is in, a list, which takes a fifth of a set's memory; undefined until it is known. */
	conversations: string[] | undefined;
	/** Joins and leaves told before it was known, where there were any. */
	early?: Map<string, boolean> | undefined;
	/** By topic, what it was told because it had missed it: the same may still be on its way live. */
	caughtUp?: Map<string, AlreadyTold>;
}
