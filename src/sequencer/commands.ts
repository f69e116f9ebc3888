import type { Conversation } from '../model/conversation.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { Message } from '../model/message.ts';
import type { ThreadSummary } from './effects.ts';

/**
 * What can be asked of a conversation. A command is plain data: it goes through the log under its
 * conversation's id, and the owner of that conversation decides about it in the order of the log.
 */

export interface Content {
	readonly text: string;
	/** Blocks, attachments, metadata, files: carried, not looked into (but for files that are deleted); JSON. */
	readonly extra: string | null;
}

/** What `extra` may take up. */
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
			/** An app speaks where it was called, or where its webhook posts: its bot need not be a member. */
			readonly asGuest?: true;
	  }
	| {
			readonly type: 'edit';
			readonly ts: number;
			readonly content: Content;
			/** Fields of `extra` that stay as they are when the edit takes place. */
			readonly keep?: readonly string[];
			readonly asGuest?: true;
	  }
	| { readonly type: 'delete'; readonly ts: number; readonly asGuest?: true }
	/** The actor deleted a file that the message has. Membership does not matter. */
	| { readonly type: 'remove_file'; readonly ts: number; readonly file: string }
	/** The actor reacts to a message, or takes the reaction back. */
	| { readonly type: 'react'; readonly ts: number; readonly name: string; readonly added: boolean }
	/** Pins a message to the conversation, or takes it down. */
	| { readonly type: 'pin'; readonly ts: number; readonly added: boolean }
	| { readonly type: 'join' }
	| { readonly type: 'leave' }
	/** Each user once. With `force`, who is a member already is passed over; without, it refuses the call. */
	| { readonly type: 'invite'; readonly users: readonly string[]; readonly force: boolean }
	| { readonly type: 'kick'; readonly user: string }
	/** By the administrator: no rule about who invites whom. Each user once. */
	| { readonly type: 'add_members'; readonly users: readonly string[] }
	| { readonly type: 'archive' }
	| { readonly type: 'unarchive' }
	| { readonly type: 'rename'; readonly name: string }
	| { readonly type: 'set_topic'; readonly value: string }
	| { readonly type: 'set_purpose'; readonly value: string }
	| { readonly type: 'follow'; readonly threadTs: number; readonly lastRead: number | null }
	| { readonly type: 'unfollow'; readonly threadTs: number }
	/** Whether the actor follows a thread; changes nothing. */
	| { readonly type: 'follow_status'; readonly threadTs: number };

export interface Command {
	readonly conversation: string;
	/** Who asks; empty for the administrator. */
	readonly actor: string;
	readonly team: string;
	/** When the gateway received the request, by its clock, in micros. */
	readonly at: number;
	readonly action: Action;
}

/** What the requester receives. */
export type Outcome =
	| { readonly ok: true; readonly result: Result }
	| { readonly ok: false; readonly error: ErrorCode; readonly detail?: string };

export interface Result {
	readonly conversation?: Conversation;
	readonly message?: Message;
	/** Of a post: who wrote the root of the thread that it is a reply in. */
	readonly parentUser?: string;
	/** Of an edit: the thread that the message is a reply of, or the root of. */
	readonly thread?: ThreadSummary | null;
	/** The send was a repetition: nothing new was created. */
	readonly repeated?: boolean;
	/** Nothing had to be done: a second join, opening what is open, leaving what one is not in. */
	readonly unchanged?: boolean;
	readonly added?: number;
	readonly already?: number;
	readonly follow?: { readonly cursor: number; readonly active: boolean; readonly since: number };
}
