import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import type { Pin } from '../model/pins.ts';
import type { Reaction } from '../model/reactions.ts';
import type { Command } from './commands.ts';
import { Recent } from './recent.ts';
import type { SendsSeen } from './sends-seen.ts';

/**
 * What the owner of a conversation knows of it while deciding: the head, and those members, messages and
 * threads that commands needed so far. What is missing is loaded before a command is decided (needs.ts
 * says what that is), so that deciding itself is a pure function. Only evolve.ts changes a state.
 */

export interface Head {
	conversation: Conversation;
	/** Stamp of the newest change of anything in it. */
	stamp: number;
	/** The newest ts of any message ever posted in it; 0 for none. */
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
	/** Stamp of the join; 0 for who never was a member. */
	readonly joinedTs: number;
}

export const NEVER_JOINED: JoinState = { member: false, joinedTs: 0 };

export interface Follow {
	/** Where its thread cursor started; the read state knows where it is now. */
	readonly cursor: number;
	readonly active: boolean;
	/** Stamp of when it began, or ended. */
	readonly since: number;
}

export interface ThreadReply {
	readonly ts: number;
	readonly user: string;
}

export interface Thread {
	/** Undeleted replies, ascending. */
	readonly replies: ThreadReply[];
	/** Who wrote any of them, in order of first reply. */
	readonly repliers: Set<string>;
	/** Who follows or once followed it, as far as loaded; null: known never to have. */
	readonly follows: Map<string, Follow | null>;
	/** Complete: a user who is not among them never replied, because the owner has seen the thread from its start. */
	readonly followsKnown: boolean;
}

/** Of a message that was just posted. Shared by all of them: only a thread that something happens to gets its own. */
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
	/** Null: known not to exist. */
	readonly messages: Recent<number, Message | null>;
	readonly threads: Recent<number, Thread>;
	/** ts of sends by `sendKey`; null: known not to have been sent. */
	readonly sends: Recent<string, number | null>;
	/** Of a message, its reactions by name. */
	readonly reactions: Recent<number, ReadonlyMap<string, Reaction>>;
	/** By `reactedKey`: what a user reacts to a message with. */
	readonly reacted: Recent<string, ReadonlySet<string>>;
	/** All pins by message; undefined: not loaded. */
	pins: ReadonlyMap<number, Pin> | undefined;
	/** Which ones there may have been beyond those; undefined: not loaded. */
	sendsSeen: SendsSeen | undefined;
	/** So many sends are looked up one by one before `sendsSeen` is loaded. */
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

/** Strictly rising, whatever the clocks of the gateways say. */
export const stampOf = (head: Head, command: Command): number => Math.max(command.at, head.stamp + 1);

export const sendKey = (user: string, clientMsgId: string): string => `${user} ${clientMsgId}`;

export const reactedKey = (ts: number, user: string): string => `${ts} ${user}`;

export const isMember = (state: ConversationState, user: string): boolean =>
	state.members.get(user)?.member === true;

export const repliersOf = (replies: readonly ThreadReply[]): Set<string> =>
	new Set(replies.map(({ user }) => user));
