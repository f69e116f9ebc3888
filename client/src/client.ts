import { Api } from './api.ts';
import { applyEvent } from './apply-event.ts';
import { SocketConnection } from './connection.ts';
import type { Core } from './core.ts';
import { CountsState } from './counts-state.ts';
import { Focus } from './focus.ts';
import { Marks } from './marks.ts';
import { Cell, Notifier } from './notifier.ts';
import { Outbox } from './outbox.ts';
import { pages } from './pages.ts';
import { People } from './people.ts';
import { addressOf, platformOf } from './platform.ts';
import { Presences } from './presences.ts';
import { Previews } from './previews.ts';
import type { ClientOptions, TidemarkClient } from './public.ts';
import { LiveThreads } from './threads-store.ts';
import type { ClientSnapshot, Conversation } from './types.ts';
import { Typing } from './typing.ts';
import { Windows } from './windows.ts';
import { toCounts, toDescription, toExplanation, toMessage, type Wire } from './wire.ts';

/** Composes the parts: what comes in goes to each, what changes is told. */

const EVERY_KIND = 'public_channel,private_channel,mpim,im';
const JOINED = new Set(['channel_joined', 'group_joined', 'mpim_joined', 'im_created']);

export function createClient(options: ClientOptions): TidemarkClient {
	const platform = platformOf(options);
	const notifier = new Notifier(platform);
	const api = new Api(addressOf(options), options.token, platform);
	let self: ClientSnapshot['self'] = null;
	let team: ClientSnapshot['team'] = null;
	let isReady = false;

	const underWay = new Set<Promise<unknown>>();
	const background = (work: Promise<unknown>): void => {
		const done: Promise<unknown> = work
			.catch(() => undefined)
			.finally(() => {
				underWay.delete(done);
			});
		underWay.add(done);
	};

	const state = new CountsState((id) => {
		windows.touch(id);
		inbox.touch();
		badge.touch();
		root.touch();
	});
	const send = (frame: Wire): boolean => connection.send(frame);
	const isOnline = (): boolean => connection.state.status === 'online';
	const revision = (channel: string): number | undefined => state.revision(channel);
	const touchWindows = (channel: string): void => windows.touch(channel);

	const people = new People(api, () => root.touch());
	const presences = new Presences(send, () => root.touch());
	const previews = new Previews(api, state);
	const typing = new Typing(platform, send, touchWindows);
	const focus = new Focus(platform.now, send, revision);
	const marks = new Marks({
		api,
		platform,
		isOnline,
		revision,
		told: (answer) => void state.tell(answer.channel, toCounts(answer)),
	});
	const outbox = new Outbox({
		api,
		platform,
		attempts: options.sendAttempts ?? Number.POSITIVE_INFINITY,
		self: () => self?.id ?? '',
		isOnline,
		changed: touchWindows,
		sent: (message, channel) => windows.receive(asEvent(message, channel)),
	});
	const core: Core = {
		api,
		notifier,
		state,
		outbox,
		marks,
		focus,
		typing,
		pageSize: options.pageSize ?? 50,
		background,
	};
	const windows = new Windows(() => core);
	const threads = new LiveThreads(core);

	const badge = new Cell<number>(notifier, () => state.badge);
	const inbox = new Cell<readonly Conversation[]>(notifier, () => byActivity(state));
	const root = new Cell<ClientSnapshot>(notifier, () => ({
		connection: connection.state,
		isReady,
		self,
		team,
		conversations: state.conversations.snapshot,
		threads: state.threads,
		badge: state.badge,
		users: people.known.snapshot,
		presence: presences.known.snapshot,
	}));

	/** What a conversation is, and its counts: of one that came back, or whose counts were lost sight of. */
	async function fetchConversation(id: string): Promise<void> {
		const { channel } = await api.ask('conversations.info', { channel: id });
		if (channel.is_archived || !channel.position) return;
		// The newest message of a direct message is the message itself here.
		const latest = channel.latest?.ts ?? channel.latest;
		state.tell(id, toCounts({ ...channel, latest }), { ...toDescription(channel), preview: null });
		state.describe(id, toDescription(channel));
	}

	/** Counts first: whatever changes after them is told as events, so that the rest can only be newer. */
	async function load(isCurrent: () => boolean): Promise<string> {
		const counts = await api.once('client.counts');
		const channels: Wire[] = [];
		const everything = { types: EVERY_KIND, exclude_archived: true, limit: 1000 };
		for await (const page of pages(api, 'users.conversations', everything)) channels.push(...page.channels);
		if (!isCurrent()) return '';
		state.reset(counts, channels);
		isReady = true;
		root.touch();
		windows.forget();
		threads.invalidate();
		background(previews.restart());
		return counts.position;
	}

	function receive(event: Wire): void {
		applyEvent(state, event, {
			gap: () => connection.resync(),
			conversation: (id) => background(fetchConversation(id)),
			preview: (id) => background(previews.refresh(id)),
		});
		windows.receive(event);
		typing.receive(event);
		presences.receive(event);
		if (event.type === 'update_thread_state') threads.invalidate();
		// Who comes in sees what was there before; who left hears no more of it.
		else if (JOINED.has(event.type)) windows.forget(event.channel.id);
		else if (event.type.endsWith('_left')) windows.forget(event.channel);
		else if (event.type === 'message' && event.client_msg_id && event.user === self?.id)
			outbox.confirm(toMessage(event, event.channel));
	}

	const connection: SocketConnection = new SocketConnection({
		api,
		platform,
		load,
		receive,
		welcome: (answer) => {
			self = answer.self;
			team = answer.team;
			state.self = answer.self.id;
			root.touch();
		},
		changed: () => root.touch(),
		online: () => {
			for (const part of [focus, presences, outbox, marks]) part.online();
		},
	});
	// A laptop that wakes up, or finds its network again, does not wait.
	(globalThis as { addEventListener?: (type: string, listener: () => void) => void }).addEventListener?.(
		'online',
		() => connection.wake(),
	);

	async function settled(): Promise<void> {
		for (;;) {
			try {
				await connection.connect();
				// Counts that are pushed follow an event a turn later: two round trips are after both.
				await connection.ping();
				await connection.ping();
				if (underWay.size === 0) return;
				await Promise.all(underWay);
			} catch (error) {
				if (connection.state.status === 'stopped' || connection.state.status === 'idle') throw error;
			}
		}
	}

	return {
		subscribe: root.subscribe,
		getSnapshot: root.getSnapshot,
		connect: () => connection.connect(),
		disconnect: () => connection.disconnect(),
		settled,
		conversation: (id) => windows.conversation(id),
		thread: (channel, threadTs) => windows.thread(channel, threadTs),
		threads,
		inbox: {
			subscribe: inbox.subscribe,
			getSnapshot: inbox.getSnapshot,
			loadPreviews: () => previews.more(),
		},
		badge,
		user: (id) => people.user(id),
		loadUsers: () => people.loadAll(),
		watchPresence: (users) => presences.watch(users),
		setPresence: async (presence) => void (await api.call('users.setPresence', { presence })),
		markAll: async () => void (await api.call('client.markAllRead')),
		explain: async () => toExplanation(await api.ask('client.explain')),
		createChannel: async (name, { isPrivate = false } = {}) =>
			(await api.call('conversations.create', { name, is_private: isPrivate })).channel.id,
		openDirect: async (users) => (await api.call('conversations.open', { users })).channel.id,
		join: async (channel) => void (await api.call('conversations.join', { channel })),
		browse: async (cursor) => {
			const args = { exclude_archived: true, limit: 200, ...(cursor ? { cursor } : {}) };
			const page = await api.ask('conversations.list', args);
			const channels = page.channels.map((channel: Wire) => ({
				...toDescription(channel),
				isMember: channel.is_member,
				memberCount: channel.num_members ?? 0,
			}));
			return { channels, cursor: page.response_metadata?.next_cursor ?? '' };
		},
		call: (method, args) => api.call(method, args),
	};
}

/** An answer to a post, as the event of it will look to whoever shows messages. */
const asEvent = (message: Wire, channel: string): Wire => ({
	...message,
	type: 'message',
	channel,
	...(message.thread_ts && message.subtype !== 'thread_broadcast' ? {} : { prev_ts: '' }),
});

/** Newest first; of those without a message, by id. */
const byActivity = (state: CountsState): Conversation[] =>
	[...state.conversations.snapshot.values()].sort((a, b) =>
		a.latest === b.latest ? (a.id < b.id ? -1 : 1) : a.latest < b.latest ? 1 : -1,
	);
