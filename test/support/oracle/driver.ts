/**
 * What a test must provide to compare a server with the oracle: a way to perform each operation, and a way to read what
 * the server shows. This is the only difference between tests over HTTP and over the ports. All stamps are integers of
 * microseconds. An operation that the server rejects must throw.
 */

import type { BadgeItem, ConversationKind, Follow, Row, ThreadsView } from './types.ts';

interface Core {
	/** The first member creates the conversation. */
	createConversation(
		kind: ConversationKind,
		members: readonly string[],
		name: string,
	): Promise<{ id: string; at: number }>;
	/** `by`: the member who invites, for conversations that users cannot join by themselves. */
	join(c: string, user: string, by?: string): Promise<void>;
	leave(c: string, user: string): Promise<void>;
	kick(c: string, user: string, by: string): Promise<void>;
	archive(c: string, by: string): Promise<void>;
	unarchive(c: string, by: string): Promise<void>;
	/** Returns the ts that the server gave the message. */
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

/** Each belongs to a group of randomHistory's options. A test whose driver lacks one disables its group there. */
interface OptionalOperations {
	markThread(c: string, threadTs: number, user: string, ts: number): Promise<void>;
	markThreadUnread(c: string, threadTs: number, user: string, ts: number): Promise<void>;
	follow(c: string, threadTs: number, user: string, lastRead?: number): Promise<void>;
	unfollow(c: string, threadTs: number, user: string): Promise<void>;
	/**
	 * Returns the moment from which the user is active or inactive: at or after every earlier ts, before every later ts.
	 * The change must have taken effect when this returns.
	 */
	setActive(user: string, active: boolean): Promise<number>;
}

/** Every query that exists is compared. `as`: the member who asks, for queries that are not about one user. */
export interface Queries {
	/** All conversations of a user that count, by id; an extra row is a difference too. */
	rows(user: string): Promise<Record<string, Partial<Row>>>;
	unreads(user: string, c: string): Promise<number[]>;
	/** A server may list threads without a reply or not: the comparison leaves them out. */
	threads(user: string): Promise<ThreadsView>;
	follows(user: string): Promise<Follow[]>;
	badge(user: string): Promise<number>;
	explain(user: string): Promise<BadgeItem[]>;
	members(c: string, as: string): Promise<string[]>;
	/** Without tombstones. */
	timeline(c: string, as: string): Promise<number[]>;
	readers(c: string, ts: number, as: string): Promise<string[]>;
}

export interface Driver extends Core, Partial<OptionalOperations>, Partial<Queries> {
	/** The fields of rows to compare; all by default. For a server that lacks some. */
	readonly rowFields?: readonly (keyof Row)[];
	/** Waits until everything acknowledged is applied; called before each comparison. */
	settle?(): Promise<void>;
}
