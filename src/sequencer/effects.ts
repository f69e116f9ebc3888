import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';
import type { Reaction } from '../model/reactions.ts';

/**
 * Effects are the decided changes of a command. The read state, live events and database rows
 * are derived from them alone.
 */

interface Stamped {
	/** The conversation after the change. */
	readonly conversation: Conversation;
	/** Stamp of the command, later than those of all earlier commands of the conversation. Effects of one command share it. */
	readonly at: number;
}

/** What clients show about a thread without opening it. */
export interface ThreadSummary {
	readonly root: Message;
	readonly replyCount: number;
	readonly latestReply: number;
	/** Users who replied, in order of first reply, up to five. */
	readonly replyUsers: readonly string[];
	readonly replyUsersCount: number;
}

export type Effect =
	| (Stamped & { readonly type: 'created'; readonly members: readonly string[]; readonly actor: string })
	| (Stamped & {
			readonly type: 'posted';
			readonly message: Message;
			/** The timeline message before it; null if it is the first, or not in the timeline. */
			readonly prevTs: number | null;
			/** The thread, if the message is a reply. */
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'edited';
			readonly message: Message;
			readonly previous: Message;
			/** The thread of a reply, or of a root that has replies. */
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'deleted';
			/** The message after the change: without its text. */
			readonly message: Message;
			readonly previous: Message;
			/** It stays visible as a tombstone because it has replies. */
			readonly tombstone: boolean;
			readonly thread: ThreadSummary | null;
	  })
	| (Stamped & {
			readonly type: 'reacted';
			readonly added: boolean;
			/** ts and author of the message. */
			readonly ts: number;
			readonly author: string;
			readonly name: string;
			/** The user who reacted. */
			readonly user: string;
			/** Summary of this emoji on this message after the change; null if no user is left. */
			readonly current: Reaction | null;
	  })
	| (Stamped & {
			readonly type: 'pinned';
			readonly added: boolean;
			/** ts and author of the message, and the beginning of its text. */
			readonly ts: number;
			readonly author: string;
			readonly text: string;
			/** The user who pinned or unpinned it. */
			readonly user: string;
			/** Number of pins in the conversation after the change. */
			readonly count: number;
	  })
	| (Stamped & {
			readonly type: 'joined';
			readonly users: readonly string[];
			readonly inviter: string | null;
			/** Where the cursors of the new members start: at the newest ts of any message. */
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
