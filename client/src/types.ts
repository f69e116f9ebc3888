/**
 * What an application sees: plain, immutable values. A value that did not change keeps its identity, so `===` shows
 * whether there is anything to draw again.
 */

/** What React's useSyncExternalStore takes. Both functions may be passed around without their object. */
export interface Store<T> {
	/** Calls back after changes, several at once where they come together. Returns what ends it. */
	readonly subscribe: (listener: () => void) => () => void;
	/** The present value; the same object until something in it changes. */
	readonly getSnapshot: () => T;
}

export type ConversationKind = 'public' | 'private' | 'im' | 'mpim';
export type NotificationLevel = 'all' | 'mentions' | 'none';

/** A row of the server's `client.counts`, kept up to date by events. */
export interface Counts {
	/** How far it is read: the ts of a message, zeros for nothing. */
	readonly lastRead: string;
	/** The newest message of the timeline, zeros for none. */
	readonly latest: string;
	readonly hasUnreads: boolean;
	readonly unreadCount: number;
	/** The same, 0 while muted. */
	readonly unreadCountDisplay: number;
	readonly mentionCount: number;
	/** What it adds to the badge. */
	readonly badgeCount: number;
	readonly isMuted: boolean;
	readonly notificationLevel: NotificationLevel;
	/** Rises when something is marked unread; a mark that carries an older one is void. */
	readonly revision: number;
	/** There are more than 10,000 unread: counts stop there. */
	readonly isCapped: boolean;
}

/** The newest message of a conversation, for lists. */
export interface Preview {
	readonly ts: string;
	readonly user: string;
	readonly text: string;
}

/** A conversation that the user is in and that is not archived. */
export interface Conversation extends Counts {
	readonly id: string;
	readonly kind: ConversationKind;
	/** Empty for direct messages: show `user` or `members` then. */
	readonly name: string;
	/** The other person of a direct message. */
	readonly user: string | null;
	/** Everybody in a group of direct messages; empty otherwise. */
	readonly members: readonly string[];
	readonly topic: string;
	readonly purpose: string;
	readonly creator: string;
	/** Seconds since 1970. */
	readonly created: number;
	/** Null: there is no message, or it is not known yet. */
	readonly preview: Preview | null;
}

/** All followed threads together. */
export interface ThreadTotals {
	readonly hasUnreads: boolean;
	readonly unreadCount: number;
	readonly mentionCount: number;
	readonly badgeCount: number;
}

export type MessageStatus = 'sent' | 'sending' | 'failed';

export interface Message {
	readonly channel: string;
	/** Identity and place. While a message is being sent it has a `clientMsgId` and an empty ts. */
	readonly ts: string;
	readonly user: string;
	/** The name that a bot posted it under, where that is not its own. */
	readonly username: string | null;
	/** The picture that a bot posted it with: an emoji by name (`fire`), or the address of an image. */
	readonly iconEmoji: string | null;
	readonly iconUrl: string | null;
	/** `/me waves`: it is about its author. */
	readonly isMe: boolean;
	readonly text: string;
	readonly status: MessageStatus;
	/** Why it failed: an error code of the server's. */
	readonly error: string | null;
	readonly clientMsgId: string | null;
	/** The root of the thread that it is in; a root with replies has its own ts here. */
	readonly threadTs: string | null;
	/** A reply that is in the conversation as well. */
	readonly isBroadcast: boolean;
	/** It was deleted, and stays because it has replies. */
	readonly isTombstone: boolean;
	/** The ts of its last edit. */
	readonly edited: string | null;
	readonly replyCount: number;
	readonly replyUsers: readonly string[];
	readonly latestReply: string | null;
	/** In the order of their first one. */
	readonly reactions: readonly Reaction[];
	readonly isPinned: boolean;
	readonly files: readonly SharedFile[];
	/** Slack's `blocks`, `attachments` and `metadata`, as they came. */
	readonly blocks: readonly unknown[] | null;
	readonly attachments: readonly unknown[] | null;
	readonly metadata: unknown;
}

/** A file that a message shares. `client.fileLink` has an address to show it from. */
export interface SharedFile {
	readonly id: string;
	/** It was deleted: nothing else is known of it. */
	readonly isDeleted: boolean;
	readonly name: string;
	readonly title: string;
	readonly mimetype: string;
	/** Slack's short name of its type: `png`, `pdf`. */
	readonly filetype: string;
	/** Bytes. */
	readonly size: number;
	/** Who uploaded it. */
	readonly user: string;
	/** Seconds since 1970. */
	readonly created: number;
	/** What a picture shows, for those who cannot see it. */
	readonly altText: string;
	/** Pixels of a picture; 0 where that is not known. */
	readonly width: number;
	readonly height: number;
}

/** Addresses of a file for `<img>` and `<a>`, which need no token until they end. */
export interface FileLink {
	readonly url: string;
	/** Saves it instead of showing it. */
	readonly downloadUrl: string;
	/** Seconds since 1970. */
	readonly expires: number;
}

/** An emoji that people react to a message with. */
export interface Reaction {
	/** Without colons; a skin tone follows after `::`. */
	readonly name: string;
	readonly count: number;
	/** The first 20 of them. */
	readonly users: readonly string[];
	/** The ts of the first one. */
	readonly since: string;
}

/** What is on screen of a conversation: an unbroken stretch of its messages. */
export interface ConversationView {
	readonly id: string;
	/** Null: the user is not in it, it is archived, or the client is not ready yet. */
	readonly conversation: Conversation | null;
	/** Oldest first; those being sent at the end. */
	readonly messages: readonly Message[];
	readonly isLoaded: boolean;
	readonly isLoading: boolean;
	readonly hasOlder: boolean;
	/** True after `jumpTo`: new messages are not shown until the stretch reaches the newest. */
	readonly hasNewer: boolean;
	/** Who is typing in the conversation. */
	readonly typing: readonly string[];
	/** Why the last load failed: an error code of the server's, or `network_error`. */
	readonly error: string | null;
}

export interface ThreadView {
	readonly channel: string;
	readonly threadTs: string;
	/** Null: not loaded yet, or gone. */
	readonly root: Message | null;
	/** Oldest first; those being sent at the end. */
	readonly replies: readonly Message[];
	readonly isLoaded: boolean;
	readonly isLoading: boolean;
	/** There are later replies to load; a thread is read from its start. */
	readonly hasMore: boolean;
	readonly isFollowing: boolean;
	readonly lastRead: string;
	readonly unreadCount: number;
	readonly mentionCount: number;
	readonly typing: readonly string[];
	readonly error: string | null;
}

/** A followed thread in the list of them. */
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
	/** Address of their photo; null: they have none. */
	readonly photo: string | null;
}

export type Presence = 'active' | 'away';

/**
 * - `idle`: not connected, by choice
 * - `connecting`: on the way, for the first time or again
 * - `online`: everything shown is up to date
 * - `waiting`: will try again at `retryAt`
 * - `stopped`: will not try again by itself; `reason` says why (`signed_out`, `invalid_auth`, `too_many_sockets`, …)
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
	/** Counts and conversations are there. */
	readonly isReady: boolean;
	readonly self: { readonly id: string; readonly name: string } | null;
	readonly team: { readonly id: string; readonly name: string } | null;
	readonly conversations: ReadonlyMap<string, Conversation>;
	readonly threads: ThreadTotals;
	readonly badge: number;
	/** Messages that the server does not have yet, those that failed included. */
	readonly unsentCount: number;
	/** People known so far; `client.user(id)` fetches one that is missing. */
	readonly users: ReadonlyMap<string, User>;
	/** Of those watched. */
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
	/** The messages that make it up, oldest first. */
	readonly items: readonly ExplainedItem[];
	readonly hasMore: boolean;
}
