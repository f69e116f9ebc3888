/**
 * What a test has to provide to check a server against the oracle: a way to perform each operation, and a way
 * to read back what the server shows. Over HTTP or over the ports, this is the only thing that differs.
 *
 * All stamps are integers of microseconds. An operation that the server refuses must throw.
 */

import type { BadgeItem, ConversationKind, Follow, Row, ThreadsView } from './types.ts';

interface Core {
	/** The first member creates it. */
	createConversation(
		kind: ConversationKind,
		members: readonly string[],
		name: string,
	): Promise<{ id: string; at: number }>;
	/** `by` is the member who invites, for conversations one cannot join by oneself. */
	join(c: string, user: string, by?: string): Promise<void>;
	leave(c: string, user: string): Promise<void>;
	kick(c: string, user: string, by: string): Promise<void>;
	archive(c: string, by: string): Promise<void>;
	unarchive(c: string, by: string): Promise<void>;
	/** Answers the ts that the server gave the message. */
	post(
		c: string,
		user: string,
		text: string,
		options: { threadTs?: number; broadcast?: boolean },
	): Promise<number>;
	edit(c: string, user: string, ts: number, text: string): Promise<void>;
	remove(c: string, user: string, ts: number): Promise<void>;
	mark(c: string, user: string, ts: number, revision?: number): Promise<{ ignored: boolean }>;
	markUnread(c: string, user: string, ts: number): Promise<void>;
	markMessage(c: string, user: string, ts: number): Promise<void>;
	markAllRead(user: string): Promise<void>;
	mute(c: string, user: string, muted: boolean): Promise<void>;
}

/** Each goes with a group of randomHistory's options; what is missing must be switched off there. */
interface Stages {
	markThread(c: string, threadTs: number, user: string, ts: number): Promise<void>;
	markThreadUnread(c: string, threadTs: number, user: string, ts: number): Promise<void>;
	follow(c: string, threadTs: number, user: string, lastRead?: number): Promise<void>;
	unfollow(c: string, threadTs: number, user: string): Promise<void>;
	/**
	 * Answers the moment from which it holds: at or after every ts given before, before every ts given later.
	 * It must have taken effect when this returns.
	 */
	setActive(user: string, active: boolean): Promise<number>;
}

/** Each that is there is compared. `as` is a member whose eyes can be used for what is not about one user. */
export interface Queries {
	/** All of a user's conversations that count, by id; a row too many is a difference as well. */
	rows(user: string): Promise<Record<string, Partial<Row>>>;
	unreads(user: string, c: string): Promise<number[]>;
	/** Threads without a reply may be listed or not: they are left out of the comparison on both sides. */
	threads(user: string): Promise<ThreadsView>;
	follows(user: string): Promise<Follow[]>;
	badge(user: string): Promise<number>;
	explain(user: string): Promise<BadgeItem[]>;
	members(c: string, as: string): Promise<string[]>;
	/** Without tombstones. */
	timeline(c: string, as: string): Promise<number[]>;
	readers(c: string, ts: number, as: string): Promise<string[]>;
}

export interface Driver extends Core, Partial<Stages>, Partial<Queries> {
	/** The fields of rows that are compared; all where it is not given. A server that lacks some says so here. */
	readonly rowFields?: readonly (keyof Row)[];
	/** Waits until everything acknowledged is applied; called before each comparison. */
	settle?(): Promise<void>;
}
