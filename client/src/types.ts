/**
 * The values that applications see: plain and immutable. An unchanged value keeps its identity, so `===` shows
 * whether to render again.
 */

/** The interface of React's useSyncExternalStore. Both functions are bound. */
export interface Store<T> {
	/**
	 * Calls the listener after changes, once for several that occur together. Returns a function that unsubscribes.
	 */
	readonly subscribe: (listener: () => void) => () => void;
	/** The current value; the same object until something in it changes. */
	readonly getSnapshot: () => T;
}

export type ConversationKind = 'public' | 'private' | 'im' | 'mpim';
export type NotificationLevel = 'all' | 'mentions' | 'none';

/** A row of the server's `client.counts`, kept up to date by events. */
export interface Counts {
	/** The cursor: ts of the last read message; all zeros if nothing was read. */
	readonly lastRead: string;
	/** ts of the newest message in the timeline; all zeros if there is none. */
	readonly latest: string;
	readonly hasUnreads: boolean;
	readonly unreadCount: number;
	/** `unreadCount`, but 0 while muted. */
	readonly unreadCountDisplay: number;
	readonly mentionCount: number;
	/** How many messages of this conversation the badge counts. */
	readonly badgeCount: number;
	readonly isMuted: boolean;
	readonly notificationLevel: NotificationLevel;
	/** Rises when messages are marked unread; a mark with an older revision is ignored. */
	readonly revision: number;
	/** More than 10,000 messages are unread: counts stop there. */
	readonly isCapped: boolean;
}

/** The newest message of a conversation, for lists. */
export interface Preview {
	readonly ts: string;
	readonly user: string;
	readonly text: string;
}

/** A conversation that the user is a member of and that is not archived. */
export interface Conversation extends Counts {
	readonly id: string;
	readonly kind: ConversationKind;
	/** Empty for direct and group messages: show `user` or `members`. */
	readonly name: string;
	/** The other user of a direct message. */
	readonly user: string | null;
	/** All members of a group message; otherwise empty. */
	readonly members: readonly string[];
	readonly topic: string;
	readonly purpose: string;
	readonly creator: string;
	/** Seconds since 1970. */
	readonly created: number;
	/** Null: there is no message, or it is not loaded yet. */
	readonly preview: Preview | null;
}

/** Totals of all followed threads. */
export interface ThreadTotals {
	readonly hasUnreads: boolean;
	readonly unreadCount: number;
	readonly mentionCount: number;
	readonly badgeCount: number;
}

export type MessageStatus = 'sent' | 'sending' | 'failed';

export interface Message {
	readonly channel: string;
	/** The id of the message, and its place in the timeline. Empty for an unsent message, which has a `clientMsgId`. */
	readonly ts: string;
	readonly user: string;
	/** The name under which a bot posted the message, if it set one. */
	readonly username: string | null;
	/** The picture that a bot set for the message: the name of an emoji (`fire`), or the address of an image. */
	readonly iconEmoji: string | null;
	readonly iconUrl: string | null;
	/** The message describes an action of its author: `/me waves`. */
	readonly isMe: boolean;
	readonly text: string;
	readonly status: MessageStatus;
	/** Why sending failed: an error code of the server, `network_error` or `outcome_unknown`. */
	readonly error: string | null;
	readonly clientMsgId: string | null;
	/** ts of the thread's root; a root with replies has its own ts here. */
	readonly threadTs: string | null;
	/** A reply that also appears in the conversation. */
	readonly isBroadcast: boolean;
	/** A deleted message that stays because it has replies. */
	readonly isTombstone: boolean;
	/** The time of its last edit, as a ts. */
	readonly edited: string | null;
	readonly replyCount: number;
	readonly replyUsers: readonly string[];
	readonly latestReply: string | null;
	/** In the order in which the emoji were first used. */
	readonly reactions: readonly Reaction[];
	readonly isPinned: boolean;
	readonly files: readonly SharedFile[];
	/** Slack's `blocks`, `attachments` and `metadata`, unchanged. */
	readonly blocks: readonly unknown[] | null;
	readonly attachments: readonly unknown[] | null;
	readonly metadata: unknown;
}

/** A file that a message shares. `client.fileLink` returns links to show it. */
export interface SharedFile {
	readonly id: string;
	/** The file was deleted; the other fields are empty. */
	readonly isDeleted: boolean;
	readonly name: string;
	readonly title: string;
	readonly mimetype: string;
	/** Slack's short name of its type: `png`, `pdf`. */
	readonly filetype: string;
	/** Bytes. */
	readonly size: number;
	/** The user who uploaded it. */
	readonly user: string;
	/** Seconds since 1970. */
	readonly created: number;
	/** A description of the picture for people who cannot see it. */
	readonly altText: string;
	/** Size of a picture in pixels; 0: unknown. */
	readonly width: number;
	readonly height: number;
}

/** Links to a file for `<img>` and `<a>`, which need no token until they expire. */
export interface FileLink {
	readonly url: string;
	/** Downloads the file instead of showing it. */
	readonly downloadUrl: string;
	/** Seconds since 1970. */
	readonly expires: number;
}

/** An emoji reaction to a message. */
export interface Reaction {
	/** Without colons; a skin tone follows after `::`. */
	readonly name: string;
	readonly count: number;
	/** Up to 20 of the users, usually the first ones, and the user of this client, if they have reacted. */
	readonly users: readonly string[];
	/** ts of the first reaction. */
	readonly since: string;
}

/** The loaded part of a conversation: contiguous messages. */
export interface ConversationView {
	readonly id: string;
	/** Null: the user is not a member, the conversation is archived, or the client is not ready yet. */
	readonly conversation: Conversation | null;
	/** Oldest first; unsent ones at the end. */
	readonly messages: readonly Message[];
	readonly isLoaded: boolean;
	readonly isLoading: boolean;
	readonly hasOlder: boolean;
	/** True after `jumpTo`: new messages are not shown until the newest ones are loaded. */
	readonly hasNewer: boolean;
	/** The users who are typing in the conversation. */
	readonly typing: readonly string[];
	/** Why the last load failed: an error code of the server, or `network_error`. */
	readonly error: string | null;
}

export interface ThreadView {
	readonly channel: string;
	readonly threadTs: string;
	/** Null: not loaded yet, or deleted. */
	readonly root: Message | null;
	/** Oldest first; unsent ones at the end. */
	readonly replies: readonly Message[];
	readonly isLoaded: boolean;
	readonly isLoading: boolean;
	/** There are later replies that are not loaded: a thread is loaded from its start. */
	readonly hasMore: boolean;
	readonly isFollowing: boolean;
	readonly lastRead: string;
	readonly unreadCount: number;
	readonly mentionCount: number;
	readonly typing: readonly string[];
	readonly error: string | null;
}

/** An entry in the list of followed threads. */
export interface ThreadSummary {
	readonly channel: string;
	readonly threadTs: string;
	readonly root: Message;
	readonly unreadReplies: readonly Message[];
	readonly latestReplies: readonly Message[];
	readonly unreadCount: number;
	readonly mentionCount: number;
}

export interface ThreadsView {
	/** Newest activity first. */
	readonly threads: readonly ThreadSummary[];
	readonly isLoaded: boolean;
	readonly isLoading: boolean;
	readonly hasMore: boolean;
	readonly error: string | null;
}

export interface User {
	readonly id: string;
	readonly name: string;
	readonly realName: string;
	readonly isBot: boolean;
	readonly isDeleted: boolean;
	/** Address of the user's photo; null: none. */
	readonly photo: string | null;
}

export type Presence = 'active' | 'away';

/**
 * - `idle`: not connected, by choice
 * - `connecting`: connecting, for the first time or again
 * - `online`: conversations, counts and messages are up to date; after a reconnect, users are reloaded one by one
 * - `waiting`: reconnects at `retryAt`
 * - `stopped`: does not reconnect by itself; `reason` says why (`signed_out`, `invalid_auth`, `too_many_sockets`, …)
 */
export type ConnectionStatus = 'idle' | 'connecting' | 'online' | 'waiting' | 'stopped';

export interface Connection {
	readonly status: ConnectionStatus;
	readonly reason: string | null;
	/** Milliseconds since 1970. */
	readonly retryAt: number | null;
}

export interface ClientSnapshot {
	readonly connection: Connection;
	/** Counts and conversations are loaded. */
	readonly isReady: boolean;
	readonly self: { readonly id: string; readonly name: string } | null;
	readonly team: { readonly id: string; readonly name: string } | null;
	readonly conversations: ReadonlyMap<string, Conversation>;
	readonly threads: ThreadTotals;
	readonly badge: number;
	/** Number of messages that are being sent or wait for a connection, without failed ones. */
	readonly unsentCount: number;
	/**
	 * Loaded users; `client.user(id)` fetches a missing one. After a reconnect this is a new Map, and `get(id)` makes the client
	 * reload the user.
	 */
	readonly users: ReadonlyMap<string, User>;
	/** Presence of watched users. */
	readonly presence: ReadonlyMap<string, Presence>;
}

export interface ExplainedItem {
	readonly channel: string;
	readonly ts: string;
	readonly threadTs: string | null;
	readonly user: string;
	readonly text: string;
	readonly reasons: readonly ('dm' | 'direct_mention' | 'channel_mention' | 'thread_mention')[];
}

export interface Explanation {
	readonly badge: number;
	/** The messages that the badge counts, oldest first. */
	readonly items: readonly ExplainedItem[];
	readonly hasMore: boolean;
}
