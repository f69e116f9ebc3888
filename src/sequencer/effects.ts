import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import type { Reaction } from '../model/reactions.ts';

/**
 * What a command changed: facts, decided once. Read state, live events and rows of the store are all
 * made from them, and from nothing else.
 */

interface Stamped {
	/** The conversation as it is after the change. */
	readonly conversation: Conversation;
	/** Stamp of the change: later than every earlier one of this conversation. */
	readonly at: number;
}

/** What a thread looks like from outside. */
export interface ThreadSummary {
	readonly root: Message;
	readonly replyCount: number;
	readonly latestReply: number;
	/** Who replied, in order of first reply, up to five. */
	readonly replyUsers: readonly string[];
	readonly replyUsersCount: number;
}

export type Effect =
	| (Stamped & { readonly type: 'created'; readonly members: readonly string[]; readonly actor: string })
	| (Stamped & {
			readonly type: 'posted';
			readonly message: Message;
			/** The timeline message before it; null when it is the first, or not in the timeline. */
			readonly prevTs: number | null;
			/** The thread it is a reply of. */
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'edited';
			readonly message: Message;
			readonly previous: Message;
			/** The thread it is a reply of, or the root of while that has replies. */
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'deleted';
			/** The message after it: without its text. */
			readonly message: Message;
			readonly previous: Message;
			/** It stays visible as a tombstone, because it has replies. */
			readonly tombstone: boolean;
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'reacted';
			readonly added: boolean;
			/** The message, and who wrote it. */
			readonly ts: number;
			readonly author: string;
			readonly name: string;
			/** Whose reaction it is. */
			readonly user: string;
			/** This emoji on this message after the change; null: nobody is left. */
			readonly current: Reaction | null;
	  })
	| (Stamped & {
			readonly type: 'pinned';
			readonly added: boolean;
			/** The message, who wrote it, and what it says. */
			readonly ts: number;
			readonly author: string;
			readonly text: string;
			/** Who did it. */
			readonly user: string;
			/** Pins of the conversation after it. */
			readonly count: number;
	  })
	| (Stamped & {
			readonly type: 'joined';
			readonly users: readonly string[];
			readonly inviter: string | null;
			/** Where their cursors start: the newest ts of any message. */
			readonly cursor: number;
			/** The newest timeline message; 0 for none. */
			readonly latest: number;
	  })
	| (Stamped & { readonly type: 'left'; readonly user: string; readonly actor: string })
	| (Stamped & {
			readonly type: 'changed';
			readonly what: 'archive' | 'unarchive' | 'rename' | 'topic' | 'purpose';
			readonly actor: string;
			readonly previous: Conversation;
	  })
	| (Stamped & {
			readonly type: 'followed';
			readonly user: string;
			readonly threadTs: number;
			readonly cursor: number;
	  })
	| (Stamped & { readonly type: 'unfollowed'; readonly user: string; readonly threadTs: number });
