import type {
	ClientSnapshot,
	Conversation,
	ConversationView,
	Counts,
	Explanation,
	FileLink,
	Message,
	NotificationLevel,
	SharedFile,
	Store,
	ThreadsView,
	ThreadView,
	User,
} from './types.ts';

/** What an application calls. */

export interface ClientOptions {
	/** Where the server is: `https://chat.example.com`, without `/api`. In a browser, the page's origin by default. */
	readonly url?: string;
	/** A token, or what fetches one: asked before each connect, and again when the server calls it expired. */
	readonly token: string | (() => string | Promise<string>);
	/** Needed where there is no global one: Node before 22. The class of the package `ws` will do. */
	readonly WebSocket?: WebSocketClass;
	readonly fetch?: typeof fetch;
	/** Milliseconds since 1970, from 0 to below 1, and timers: replaced in tests. */
	readonly now?: () => number;
	readonly random?: () => number;
	readonly timers?: Timers;
	/** Messages fetched at once; 50. */
	readonly pageSize?: number;
	/** Keeps messages that were not sent yet, so that they are sent after a reload. Nowhere by default. */
	readonly unsent?: UnsentStore;
	/** How many times a message is sent before it counts as failed; without end by default. */
	readonly sendAttempts?: number;
}

/** A message that the server does not have yet. Plain data: it can be stored as JSON. */
export interface UnsentPost {
	/** Who wrote it. */
	readonly user: string;
	readonly args: Readonly<Record<string, unknown>>;
	/** When the server may have received it first; 0: never. */
	readonly firstSentAt: number;
	/** Why it was refused; null while it is to be sent. */
	readonly error: string | null;
}

/** Where unsent messages are kept, by their client_msg_id: `localStorage`, for example. Several pages may share it. */
export interface UnsentStore {
	/** In the order they were kept. */
	load(): readonly UnsentPost[];
	keep(clientMsgId: string, post: UnsentPost): void;
	drop(clientMsgId: string): void;
}

/** A file to upload: one of an `<input type=file>`, or any other Blob with a name. */
export interface UploadSource {
	readonly content: Blob;
	readonly name: string;
	/** Shown instead of the name. */
	readonly title?: string;
	readonly altText?: string;
}

export interface UploadOptions {
	/** Where to share them; without it they are the user's alone. */
	readonly channel?: string;
	readonly threadTs?: string;
	/** The text of the message. */
	readonly comment?: string;
	/** Bytes of all files together. In browsers it is called while they are sent, elsewhere after each file. */
	readonly onProgress?: (sent: number, total: number) => void;
	readonly signal?: AbortSignal;
}

export interface Timers {
	set(callback: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

/** As much of a WebSocket as is used. */
export interface WebSocketLike {
	onmessage: ((event: { data: unknown }) => void) | null;
	onclose: ((event: { code: number; reason: string }) => void) | null;
	onerror: ((event: unknown) => void) | null;
	send(data: string): void;
	close(code?: number, reason?: string): void;
}
// biome-ignore lint/suspicious/noExplicitAny: the browser's class and that of `ws` differ in everything but this
export type WebSocketClass = new (url: string) => any;

export interface PostOptions {
	/** Reply in this thread. */
	readonly threadTs?: string;
	/** Show the reply in the conversation as well. */
	readonly broadcast?: boolean;
	readonly blocks?: readonly unknown[];
	readonly attachments?: readonly unknown[];
	readonly metadata?: unknown;
	/** Made up by default. Sending the same one again creates nothing new. */
	readonly clientMsgId?: string;
}

/** What the server said to a mark. */
export interface Marked {
	readonly counts: Counts;
	/** Another device marked unread in the meantime: nothing was changed. */
	readonly ignored: boolean;
}

export interface TidemarkClient extends Store<ClientSnapshot> {
	/** Connects and stays connected. Resolves when counts and conversations are there; rejects when refused. */
	connect(): Promise<void>;
	/** Closes the connection. What is known stays and `connect` resumes. */
	disconnect(): void;
	/** Resolves when everything that the server had for this client when it was called has been applied. */
	settled(): Promise<void>;

	/** Always the same object for the same id. Subscribing to it loads the newest messages. */
	conversation(id: string): ConversationStore;
	thread(channel: string, threadTs: string): ThreadStore;
	/** The followed threads. Subscribing loads the first of them. */
	readonly threads: ThreadsStore;
	/** Conversations by latest activity. */
	readonly inbox: InboxStore;
	/** Without a connection: tries now instead of later. */
	reconnect(): void;
	/** The number on the icon. */
	readonly badge: Store<number>;
	/** Whether somebody is there, as the interface reports it; `attendWindow` does that for a browser. */
	readonly attention: Attention;

	/** Undefined while it is being fetched: the snapshot's `users` changes when it is there. */
	user(id: string): User | undefined;
	/** Everybody in the workspace, for lists and completion. */
	loadUsers(): Promise<void>;
	/** Keeps these users in the snapshot's `presence`, until the returned function is called. */
	watchPresence(users: readonly string[]): () => void;
	setPresence(presence: 'auto' | 'away'): Promise<void>;

	markAll(): Promise<void>;
	/** The messages that make up the badge, and why. */
	explain(): Promise<Explanation>;

	/** Creates a channel; resolves to its id. */
	createChannel(name: string, options?: { readonly isPrivate?: boolean }): Promise<string>;
	/** Opens the direct message with one or several people; resolves to its id. */
	openDirect(users: readonly string[]): Promise<string>;
	join(channel: string): Promise<void>;
	/**
	 * Uploads files and shares them with one message. Rejects with an ApiError where the server refuses, and with the signal's reason where it
	 * is aborted; nothing is shared then.
	 */
	uploadFiles(files: readonly UploadSource[], options?: UploadOptions): Promise<readonly SharedFile[]>;
	/** Addresses to show a file from. Null: it is gone, or the user may not see it. Cheap to ask for again. */
	fileLink(id: string): Promise<FileLink | null>;
	/** Deletes a file of the user's own, in all messages that share it. */
	deleteFile(id: string): Promise<void>;
	/** Public channels of the workspace, to join. */
	browse(cursor?: string): Promise<{ readonly channels: readonly BrowsedChannel[]; readonly cursor: string }>;
	/** Calls the listener with every event of the stream, as it is on the wire, until the function returned is called. */
	// biome-ignore lint/suspicious/noExplicitAny: what an event has depends on its type
	onEvent(listener: (event: Readonly<Record<string, any>>) => void): () => void;
	/** Any method of the Web API, with its arguments and answer as they are on the wire. */
	// biome-ignore lint/suspicious/noExplicitAny: what it answers depends on the method
	call<T = any>(method: string, args?: Readonly<Record<string, unknown>>): Promise<T>;
}

/**
 * Whether somebody looks at this device: the snapshot is true while its window is visible and has the keyboard, and its user
 * did something within the last minute. False before the first sign of life.
 */
export interface Attention extends Store<boolean> {
	/** What changed about the window; both are taken for true until they are reported. */
	report(window: { readonly isVisible?: boolean; readonly hasFocus?: boolean }): void;
	/** The user did something. Cheap: call it for every key and every move of the pointer. */
	active(): void;
}

/**
 * Marks read what its user sees: each message that was on screen for half a second while somebody was there. Messages that were
 * skipped stay unread. After the user marked unread, on any device, nothing is marked until `resume`.
 */
export interface Reader {
	/** The messages on screen now, by ts. Call it whenever they change. */
	onScreen(messages: readonly string[]): void;
	/** The user wants to read on, for example by marking everything read. */
	resume(): void;
	/** As after a mark of unread: nothing is marked until `resume`. For a page that was loaded again after one. */
	pause(): void;
	stop(): void;
}

export interface BrowsedChannel {
	readonly id: string;
	readonly name: string;
	readonly topic: string;
	readonly purpose: string;
	readonly isMember: boolean;
	readonly memberCount: number;
}

export interface ConversationStore extends Store<ConversationView> {
	readonly id: string;

	/** The newest messages, unless some are there. Subscribing does this. */
	load(): Promise<void>;
	loadOlder(): Promise<void>;
	/** After `jumpTo`. */
	loadNewer(): Promise<void>;
	/** Shows the messages around this one instead. */
	jumpTo(ts: string): Promise<void>;
	jumpToLatest(): Promise<void>;

	/**
	 * Shown at once, sent when there is a connection, sent again when no answer came. Resolves when the server has it,
	 * rejects when it refused; the message stays as `failed` then.
	 */
	post(text: string, options?: PostOptions): Promise<Message>;
	/** Sends again what failed. */
	retry(clientMsgId: string): void;
	/** Gives up what failed or has not been sent. */
	discard(clientMsgId: string): void;
	edit(ts: string, text: string): Promise<Message>;
	delete(ts: string): Promise<void>;

	/** Reacts to a message with an emoji, by its name without colons. What is so already stays so. */
	react(ts: string, name: string): Promise<void>;
	unreact(ts: string, name: string): Promise<void>;

	/** Read up to this message, by default the newest known. Sent later when there is no connection. */
	mark(ts?: string): Promise<Marked>;
	/** Unread from this message on. */
	markUnread(ts: string): Promise<Counts>;
	/** This one message read. */
	markMessage(ts: string): Promise<Counts>;
	/** Marks read what is seen from now on, until it is stopped. One for each time that the conversation is opened. */
	reader(): Reader;
	/**
	 * The user looks at it: what arrives is read at once, shown or not, while somebody is there (`client.attention`). Calling it
	 * is a sign of life: call it again when the user does something; it is cheap. What was unread before stays so: `mark` it. An
	 * interface that knows what is on screen uses `reader` instead.
	 */
	focus(): void;
	blur(): void;

	setMuted(muted: boolean): Promise<Counts>;
	setNotifications(level: NotificationLevel): Promise<Counts>;
	/** Shows others that the user is typing; sent at most once in three seconds, however often it is called. */
	sendTyping(threadTs?: string): void;

	/** Who has read a message. */
	readers(ts: string): Promise<readonly string[]>;
	/** The unread messages, oldest first; up to 1,000. */
	unreads(): Promise<{ readonly messages: readonly Message[]; readonly total: number }>;
	/** The messages in it, threads included, that are in the badge. */
	explain(): Promise<Explanation>;
	members(cursor?: string): Promise<{ readonly members: readonly string[]; readonly cursor: string }>;
	invite(users: readonly string[]): Promise<void>;
	rename(name: string): Promise<void>;
	setTopic(topic: string): Promise<void>;
	setPurpose(purpose: string): Promise<void>;
	leave(): Promise<void>;
	archive(): Promise<void>;
}

export interface ThreadStore extends Store<ThreadView> {
	readonly channel: string;
	readonly threadTs: string;
	/** The root and its first 1,000 replies, unless they are there. Subscribing does this. */
	load(): Promise<void>;
	loadMore(): Promise<void>;
	reply(text: string, options?: Omit<PostOptions, 'threadTs'>): Promise<Message>;
	/** Read up to this reply, by default the newest known. */
	mark(ts?: string): Promise<void>;
	/** Unread from this reply on. */
	markUnread(ts: string): Promise<void>;
	/** As that of a conversation; a thread is read in order, so a seen reply after an unseen one stays unread. */
	reader(): Reader;
	follow(): Promise<void>;
	unfollow(): Promise<void>;
	sendTyping(): void;
}

export interface ThreadsStore extends Store<ThreadsView> {
	load(): Promise<void>;
	loadMore(): Promise<void>;
	/** Every followed thread read. */
	markAll(): Promise<void>;
}

export interface InboxStore extends Store<readonly Conversation[]> {
	/** Fetches the previews of so many more conversations; those of the first 50 come by themselves. */
	loadPreviews(): Promise<void>;
}
