import type { Conversation } from '../model/conversation.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { Message } from '../model/message.ts';
import type { ThreadSummary } from './effects.ts';

/**
 * Commands change a conversation. A command is plain data: a gateway appends it to the log under the id of its
 * conversation, and the owner of the conversation decides commands in the order of the log.
 */

export interface Content {
	readonly text: string;
	/** JSON: blocks, attachments, metadata, files. Stored without interpreting it, except that a deleted file becomes a tombstone. */
	readonly extra: string | null;
}

export const MAX_EXTRA_BYTES = 100 * 1024;

export type Action =
	| {
			readonly type: 'create';
			readonly conversation: Omit<Conversation, 'memberCount' | 'changedTs' | 'createdTs'>;
			readonly members: readonly string[];
	  }
	| {
			readonly type: 'post';
			readonly content: Content;
			readonly threadTs: number | null;
			readonly broadcast: boolean;
			readonly clientMsgId: string | null;
			/** Set when an app posts where it was invoked, or where its webhook points: its bot need not be a member. */
			readonly asGuest?: true;
	  }
	| {
			readonly type: 'edit';
			readonly ts: number;
			readonly content: Content;
			/** Fields of `extra` that keep the value they have when the edit is decided. */
			readonly keep?: readonly string[];
			readonly asGuest?: true;
	  }
	| { readonly type: 'delete'; readonly ts: number; readonly asGuest?: true }
	/** Replaces a file that the actor deleted with a tombstone. The actor need not be a member. */
	| { readonly type: 'remove_file'; readonly ts: number; readonly file: string }
	/** Adds or removes a reaction of the actor. */
	| { readonly type: 'react'; readonly ts: number; readonly name: string; readonly added: boolean }
	/** Pins or unpins a message. */
	| { readonly type: 'pin'; readonly ts: number; readonly added: boolean }
	| { readonly type: 'join' }
	| { readonly type: 'leave' }
	/** `users` has no duplicates. The command fails if one of them is a member; with `force`, only if all are, and members are skipped. */
	| { readonly type: 'invite'; readonly users: readonly string[]; readonly force: boolean }
	| { readonly type: 'kick'; readonly user: string }
	/** From the administrator, who may add any user. `users` has no duplicates. */
	| { readonly type: 'add_members'; readonly users: readonly string[] }
	| { readonly type: 'archive' }
	| { readonly type: 'unarchive' }
	| { readonly type: 'rename'; readonly name: string }
	| { readonly type: 'set_topic'; readonly value: string }
	| { readonly type: 'set_purpose'; readonly value: string }
	| { readonly type: 'follow'; readonly threadTs: number; readonly lastRead: number | null }
	| { readonly type: 'unfollow'; readonly threadTs: number }
	/** Asks whether the actor follows a thread; changes nothing. */
	| { readonly type: 'follow_status'; readonly threadTs: number };

export interface Command {
	readonly conversation: string;
	/** The user who sent the request; empty for the administrator. */
	readonly actor: string;
	readonly team: string;
	/** When the gateway received the request, by its clock, in micros; on one machine, replaced by the stamp before it is decided. */
	readonly at: number;
	readonly action: Action;
}

/** The result of a command, for the client that sent it. */
export type Outcome =
	| { readonly ok: true; readonly result: Result }
	| { readonly ok: false; readonly error: ErrorCode; readonly detail?: string };

export interface Result {
	readonly conversation?: Conversation;
	readonly message?: Message;
	/** For a reply: the author of its thread's root. */
	readonly parentUser?: string;
	/** For an edit: the thread of the message. */
	readonly thread?: ThreadSummary | null;
	/** The command repeats an earlier send; nothing was created. */
	readonly repeated?: boolean;
	/** Nothing had to change: joining twice, opening an open conversation, leaving one that the user is not in. */
	readonly unchanged?: boolean;
	/** For `add_members`: how many users joined, and how many already were members. */
	readonly added?: number;
	readonly alreadyMembers?: number;
	readonly follow?: { readonly cursor: number; readonly active: boolean; readonly since: number };
}
