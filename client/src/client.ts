import { actionsOn } from './actions.ts';
import { Api } from './api.ts';
import { applyEvent } from './apply-event.ts';
import { Background } from './background.ts';
import { SocketConnection } from './connection.ts';
import { CountsState } from './counts-state.ts';
import { ApiError } from './errors.ts';
import { fetchConversation, fetchEverything, fetchMembership } from './fetching.ts';
import { FileLinks } from './file-links.ts';
import { Focus } from './focus.ts';
import { LiveStores } from './live-stores.ts';
import { Marks } from './marks.ts';
import { Cell, Notifier } from './notifier.ts';
import { Outbox } from './outbox.ts';
import { People } from './people.ts';
import { addressOf, type Platform, platformOf } from './platform.ts';
import { Presences } from './presences.ts';
import { Previews } from './previews.ts';
import type { ClientOptions, TidemarkClient } from './public.ts';
import { LiveAttention } from './reading/attention.ts';
import { SingleMarks } from './single-marks.ts';
import { LiveThreads } from './threads-store.ts';
import type { ClientSnapshot, Conversation } from './types.ts';
import { Typing } from './typing.ts';
import { isReactionOrPin, toCounts, toMessage, type Wire } from './wire.ts';

/** Composes the parts of the client: passes events to each of them and notifies listeners of changes. */

export function createClient(options: ClientOptions): TidemarkClient {
	const platform = platformOf(options);
	const parts = new Parts(options, platform);
	const { root, inbox, badge, stores, threads, people, previews, presences } = parts;
	return {
		...actionsOn(parts.api, new FileLinks(parts.api, platform)),
		subscribe: root.subscribe,
		getSnapshot: root.getSnapshot,
		connect: () => parts.connect(),
		disconnect: () => parts.disconnect(),
		reconnect: () => parts.connection.wake(),
		settled: () => parts.settled(),
		conversation: (id) => stores.conversation(id),
		thread: (channel, threadTs) => stores.thread(channel, threadTs),
		threads,
		inbox: {
			subscribe: inbox.subscribe,
			getSnapshot: inbox.getSnapshot,
			loadPreviews: () => previews.loadMore(),
		},
		badge,
		attention: parts.attention,
		user: (id) => people.user(id),
		loadUsers: () => people.loadAll(),
		watchPresence: (users) => presences.watch(users),
		onEvent: parts.onEvent,
	};
}

const LEFT = new Set(['channel_left', 'group_left']);
const JOINED = new Set(['channel_joined', 'group_joined', 'mpim_joined', 'im_created']);

class Parts {
	private self: ClientSnapshot['self'] = null;
	private team: ClientSnapshot['team'] = null;
	private isReady = false;
	private arePreviewsDue = false;
	private readonly background = new Background();
	private readonly notifier: Notifier;
	private readonly eventListeners = new Set<(event: Wire) => void>();

	readonly root: Cell<ClientSnapshot>;
	readonly inbox: Cell<readonly Conversation[]>;
	readonly badge: Cell<number>;
	readonly api: Api;
	readonly connection: SocketConnection;
	readonly stores: LiveStores;
	readonly threads: LiveThreads;
	readonly people: People;
	readonly previews: Previews;
	readonly presences: Presences;
	private readonly state: CountsState;
	private readonly typing: Typing;
	private readonly focus: Focus;
	private readonly marks: Marks;
	private readonly singleMarks: SingleMarks;
	readonly attention: LiveAttention;
	private readonly outbox: Outbox;

	constructor(options: ClientOptions, platform: Platform) {
		const isOnline = () => this.connection.state.status === 'online';
		const send = (frame: Wire) => this.connection.send(frame);
		const touchRoot = () => this.root.touch();
		const touchStores = (channel: string) => this.stores.touch(channel);

		this.notifier = new Notifier(platform);
		this.root = new Cell(this.notifier, () => this.snapshot());
		this.inbox = new Cell<readonly Conversation[]>(this.notifier, () => byActivity(this.state));
		this.badge = new Cell(this.notifier, () => this.state.badge);

		const api = new Api(addressOf(options), options.token, platform);
		const state = new CountsState((id) => this.touch(id));
		const revision = (channel: string) => state.revision(channel);
		this.api = api;
		this.state = state;
		const isConnected = () => ['connecting', 'online'].includes(this.connection.state.status);
		this.people = new People(api, touchRoot, isConnected);
		this.previews = new Previews(api, state);
		this.presences = new Presences(send, touchRoot);
		this.typing = new Typing(platform, send, touchStores);
		this.attention = new LiveAttention(platform);
		this.focus = new Focus(platform.now, send, revision, this.attention);
		const onAnswer = (answer: Wire) => void state.setCounts(answer.channel, toCounts(answer));
		this.marks = new Marks({ api, platform, isOnline, revision, onAnswer });
		this.singleMarks = new SingleMarks({ api, platform, isOnline, revision, onAnswer });
		this.outbox = new Outbox({
			api,
			platform,
			isOnline,
			attempts: options.sendAttempts ?? Number.POSITIVE_INFINITY,
			self: () => state.self,
			unsent: options.unsent ?? null,
			changed: (channel) => {
				touchStores(channel);
				touchRoot();
			},
			sent: (message, channel) => this.stores.receive(asEvent(message, channel)),
		});
		const { notifier, outbox, marks, singleMarks, attention, focus, typing } = this;
		const background = this.background.run;
		const pageSize = options.pageSize ?? 50;
		const isReady = () => this.isReady;
		const core = {
			api,
			platform,
			notifier,
			state,
			outbox,
			marks,
			singleMarks,
			attention,
			focus,
			typing,
			pageSize,
			isReady,
			isOnline,
			background,
		};
		this.stores = new LiveStores(core);
		this.threads = new LiveThreads(core);
		this.connection = new SocketConnection({
			api,
			platform,
			load: (isCurrent) => this.load(isCurrent),
			welcome: (answer) => this.welcome(answer),
			receive: (event) => this.receive(event),
			changed: touchRoot,
			online: (isFirstAttempt) => {
				// Users that were loaded during the first attempt are recent enough.
				if (!isFirstAttempt) this.people.reconnected();
				this.online();
			},
			isAttentive: () => this.attention.getSnapshot(),
		});
		this.attention.subscribe(() => {
			if (this.attention.getSnapshot()) this.connection.attentionReturned();
		});
	}

	connect(): Promise<void> {
		// Reconnect at once when the machine has a network again.
		(globalThis as Partial<EventTarget>).addEventListener?.('online', this.wake);
		(globalThis as Partial<EventTarget>).addEventListener?.('offline', this.offline);
		return this.connection.connect();
	}

	disconnect(): void {
		(globalThis as Partial<EventTarget>).removeEventListener?.('online', this.wake);
		(globalThis as Partial<EventTarget>).removeEventListener?.('offline', this.offline);
		this.connection.disconnect();
		this.attention.stop();
	}

	private readonly wake = (): void => this.connection.wake();
	private readonly offline = (): void => this.connection.offline();

	/** Waits until nothing is in flight; each answer may start more work. */
	async settled(): Promise<void> {
		for (;;) {
			try {
				await this.connection.whenOnline();
				// The server pushes counts one turn of its event loop after their event: two round trips cover both.
				await this.connection.ping();
				await this.connection.ping();
				if (this.background.isIdle) return;
				await this.background.done();
			} catch (error) {
				const { status } = this.connection.state;
				if (status === 'stopped' || status === 'idle') throw error;
			}
		}
	}

	private snapshot(): ClientSnapshot {
		const { self, team, isReady, connection, state, people, presences } = this;
		return {
			connection: connection.state,
			isReady,
			self,
			team,
			conversations: state.conversations.snapshot,
			threads: state.threads,
			badge: state.badge,
			unsentCount: this.outbox.size,
			users: people.known.snapshot,
			presence: presences.known.snapshot,
		};
	}

	private touch(id: string | undefined): void {
		this.stores.touch(id);
		for (const cell of [this.inbox, this.badge, this.root]) cell.touch();
	}

	private async load(isCurrent: () => boolean): Promise<string> {
		const { counts, channels } = await fetchEverything(this.api);
		if (!isCurrent()) return '';
		this.state.reset(counts, channels);
		this.isReady = true;
		this.arePreviewsDue = true;
		this.stores.forget();
		this.threads.invalidate();
		return counts.position;
	}

	private welcome({ self, team }: Wire): void {
		this.self = { id: self.id, name: self.name };
		this.team = { id: team.id, name: team.name };
		this.state.self = self.id;
		this.outbox.restore();
		this.root.touch();
	}

	private online(): void {
		const { focus, presences, outbox, marks, singleMarks, stores, threads } = this;
		for (const part of [focus, presences, outbox, marks, singleMarks, stores, threads]) part.online();
		if (this.arePreviewsDue) this.background.run(this.previews.restart());
		this.arePreviewsDue = false;
	}

	private async recount(id: string): Promise<void> {
		try {
			await fetchConversation(this.api, this.state, id);
			this.background.run(this.previews.refresh(id));
		} catch (error) {
			// If the server rejected the call, the user is no longer a member. Without an answer, only a fresh snapshot is reliable.
			if (error instanceof ApiError && error.retry !== 'no') this.connection.resync();
		}
	}

	private async refetchMembership(id: string): Promise<void> {
		try {
			await fetchMembership(this.api, this.state, id);
		} catch (error) {
			if (error instanceof ApiError && error.retry === 'no') this.state.drop(id);
			else this.connection.resync();
		}
	}

	readonly onEvent = (listener: (event: Wire) => void): (() => void) => {
		this.eventListeners.add(listener);
		return () => void this.eventListeners.delete(listener);
	};

	private receive(event: Wire): void {
		this.notifier.call(this.eventListeners, event);
		let isGap = false;
		applyEvent(this.state, event, {
			isCatchingUp: this.connection.state.status === 'connecting',
			gap: () => {
				isGap = true;
				this.connection.resync();
			},
			conversation: (id) => this.background.run(this.recount(id)),
			membership: (id) => this.background.run(this.refetchMembership(id)),
			preview: (id) => this.background.run(this.previews.refresh(id)),
		});
		// Do not add the message: the list would have a gap. The resync reloads the list.
		if (isGap) return;
		for (const part of [this.stores, this.typing, this.presences, this.people]) part.receive(event);
		if (event.type === 'update_thread_state') this.threads.invalidate();
		else if (isReactionOrPin(event)) this.threads.receiveReactionOrPin(event);
		// After a join, earlier messages may be visible; after a leave, the messages are no longer updated.
		else if (JOINED.has(event.type)) this.stores.forget(event.channel.id);
		else if (LEFT.has(event.type) && !this.state.isTracked(event.channel)) this.stores.forget(event.channel);
		else if (event.type === 'message' && event.user === this.self?.id)
			this.outbox.confirm(toMessage(event, event.channel));
	}
}

/** Converts the answer to a post into the form of its event. */
const asEvent = (message: Wire, channel: string): Wire => ({
	...message,
	type: 'message',
	channel,
	...(message.thread_ts && message.subtype !== 'thread_broadcast' ? {} : { prev_ts: '' }),
});

/** Newest first, like inbox.list. */
const byActivity = (state: CountsState): Conversation[] =>
	[...state.conversations.snapshot.values()].sort((a, b) =>
		a.latest === b.latest ? (a.id < b.id ? -1 : 1) : a.latest < b.latest ? 1 : -1,
	);
