import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import type { Pin } from '../model/pins.ts';
import type { Reaction } from '../model/reactions.ts';
import type { Command } from './commands.ts';
import { Recent } from './recent.ts';
import type { SendsSeen } from './sends-seen.ts';

/**
 * The state that the owner of a conversation decides on: the head, and the members, messages and threads that
 * commands have needed so far. needs.ts lists the state that a command needs. The worker loads it before the decision, so that
 * deciding is a pure function. Only evolve.ts applies changes to a state.
 */

export interface Head {
	conversation: Conversation;
	/** Stamp of the newest change in the conversation. */
	stamp: number;
	/** The newest ts of any message, deleted ones included; 0 for none. */
	lastTs: number;
	/** The newest timeline entries, ascending; the last one is the next message's prev_ts. */
	tail: number[];
	/** Timeline entries before this ts are not in the tail. */
	tailFloor: number;
	/** `tail` is the whole timeline. */
	tailIsAll: boolean;
}

export interface JoinState {
	readonly member: boolean;
	/** Stamp of the join; 0 for users who were never members. */
	readonly joinedTs: number;
}

export const NEVER_JOINED: JoinState = { member: false, joinedTs: 0 };

export interface Follow {
	/** Where the thread cursor started; the read state has its current value. */
	readonly cursor: number;
	readonly active: boolean;
	/** Stamp of when following began or ended. */
	readonly since: number;
}

export interface ThreadReply {
	readonly ts: number;
	readonly user: string;
}

export interface Thread {
	/** Undeleted replies, ascending. */
	readonly replies: ThreadReply[];
	/** Authors of the replies, in order of first reply. */
	readonly repliers: Set<string>;
	/** Current and former followers, as far as loaded; null: never followed. */
	readonly follows: Map<string, Follow | null>;
	/** The owner has seen the thread from its start: a user without an entry in `follows` never followed it, except the author of the root. */
	readonly followsKnown: boolean;
}

/** The thread of a new message. One shared object: a thread gets its own with its first change. */
export const NO_THREAD: Thread = {
	replies: [],
	repliers: new Set(),
	follows: new Map(),
	followsKnown: true,
};

export interface ConversationState {
	/** Undefined: not loaded; null: there is no such conversation. */
	head: Head | null | undefined;
	readonly members: Recent<string, JoinState>;
	/** Null: the message does not exist. */
	readonly messages: Recent<number, Message | null>;
	readonly threads: Recent<number, Thread>;
	/** ts by `sendKey`; null: was not sent. */
	readonly sends: Recent<string, number | null>;
	/** Reactions to a message, by name. */
	readonly reactions: Recent<number, ReadonlyMap<string, Reaction>>;
	/** Names of a user's reactions to a message, by `reactedKey`. */
	readonly reacted: Recent<string, ReadonlySet<string>>;
	/** All pins by message; undefined: not loaded. */
	pins: ReadonlyMap<number, Pin> | undefined;
	/** A filter of all recent sends; undefined: not loaded. */
	sendsSeen: SendsSeen | undefined;
	/** Number of sends to look up one by one before `sendsSeen` is loaded: loading it costs more than a few lookups. */
	sendLookups: number;
}

export const emptyState = (sendLookups = 0): ConversationState => ({
	head: undefined,
	members: new Recent(),
	messages: new Recent(),
	threads: new Recent(),
	sends: new Recent(),
	reactions: new Recent(),
	reacted: new Recent(),
	pins: undefined,
	sendsSeen: undefined,
	sendLookups,
});

/** Rises strictly, even if the clocks of gateways differ. */
export const stampOf = (head: Head, command: Command): number => Math.max(command.at, head.stamp + 1);

export const sendKey = (user: string, clientMsgId: string): string => `${user} ${clientMsgId}`;

export const reactedKey = (ts: number, user: string): string => `${ts} ${user}`;

export const isMember = (state: ConversationState, user: string): boolean =>
	state.members.get(user)?.member === true;

export const repliersOf = (replies: readonly ThreadReply[]): Set<string> =>
	new Set(replies.map(({ user }) => user));
