import type { Answer } from './api.ts';
import type { Core } from './core.ts';
import { codeOf } from './errors.ts';
import { Cell } from './notifier.ts';
import type { ConversationStore, Marked, PostOptions, Reader } from './public.ts';
import type { DueMarks } from './reading/due-marks.ts';
import { LiveReader, type Readable } from './reading/reader.ts';
import { withUnsent } from './shown-messages.ts';
import { TimelineWindow } from './timeline-window.ts';
import type { ConversationView, Counts, Explanation, Message, NotificationLevel } from './types.ts';
import { NEVER, toCounts, toExplanation, toMessage, type Wire } from './wire.ts';

/** After these errors the reaction is already as requested: this was a repeated call, or another device was faster. */
const ALREADY_DONE = ['already_reacted', 'no_reaction'];

/** One conversation: its loaded messages, and the actions on it. */
export class LiveConversation implements ConversationStore {
	readonly subscribe: ConversationStore['subscribe'];
	readonly getSnapshot: ConversationStore['getSnapshot'];
	private readonly window: TimelineWindow;
	private readonly cell: Cell<ConversationView>;

	constructor(
		readonly id: string,
		private readonly core: Core,
		watched: (isWatched: boolean) => void,
	) {
		this.window = new TimelineWindow(
			id,
			core.api,
			core.pageSize,
			() => core.state.self,
			() => this.cell.touch(),
		);
		this.cell = new Cell(
			core.notifier,
			(previous) => this.view(previous),
			(isWatched) => {
				watched(isWatched);
				if (isWatched) this.loadWatched();
			},
		);
		this.subscribe = this.cell.subscribe;
		this.getSnapshot = this.cell.getSnapshot;
	}

	load = (): Promise<void> => this.window.load();
	loadOlder = (): Promise<void> => this.window.loadOlder();
	loadNewer = (): Promise<void> => this.window.loadNewer();
	jumpTo = (ts: string): Promise<void> => this.window.jumpTo(ts);
	jumpToLatest = (): Promise<void> => this.window.jumpToLatest();

	post = (text: string, options: PostOptions = {}): Promise<Message> =>
		this.core.outbox.post(this.id, text, options);
	retry = (clientMsgId: string): void => this.core.outbox.retry(this.id, clientMsgId);
	discard = (clientMsgId: string): void => this.core.outbox.discard(this.id, clientMsgId);

	edit = async (ts: string, text: string): Promise<Message> =>
		toMessage((await this.call('chat.update', { ts, text })).message, this.id);
	delete = async (ts: string): Promise<void> => void (await this.call('chat.delete', { ts }));

	react = async (ts: string, name: string): Promise<void> => this.reaction('reactions.add', ts, name);
	unreact = async (ts: string, name: string): Promise<void> => this.reaction('reactions.remove', ts, name);

	mark = async (ts?: string): Promise<Marked> => {
		const answer = await this.core.marks.mark(this.id, ts ?? this.newest());
		return { counts: toCounts(answer), ignored: answer.ignored ?? false };
	};
	markUnread = (ts: string): Promise<Counts> => this.change('conversations.markUnread', { ts });
	markMessage = (ts: string): Promise<Counts> => this.change('conversations.markMessage', { ts });
	reader = (): Reader =>
		new LiveReader({
			...this.core,
			readable: () => this.readable(),
			mark: (due) => this.markSeen(due),
		});
	focus = (): void => this.core.focus.focus(this.id);
	blur = (): void => this.core.focus.blur(this.id);

	setMuted = (muted: boolean): Promise<Counts> =>
		this.change(muted ? 'conversations.mute' : 'conversations.unmute', {});
	setNotifications = (level: NotificationLevel): Promise<Counts> =>
		this.change('conversations.setNotifications', { level });
	sendTyping = (threadTs?: string): void => this.core.typing.sendTyping(this.id, threadTs);

	readers = async (ts: string): Promise<readonly string[]> =>
		(await this.callIdempotent('conversations.readers', { ts })).readers;
	unreads = async () => {
		const { messages, total } = await this.callIdempotent('conversations.unreads', { limit: 1000 });
		return { messages: messages.map((message: Wire) => toMessage(message, this.id)), total };
	};
	explain = async (): Promise<Explanation> => toExplanation(await this.callIdempotent('client.explain', {}));
	members = async (cursor?: string) => {
		const page = await this.callIdempotent('conversations.members', {
			limit: 1000,
			...(cursor ? { cursor } : {}),
		});
		return { members: page.members, cursor: page.response_metadata?.next_cursor ?? '' };
	};

	invite = async (users: readonly string[]) => void (await this.call('conversations.invite', { users }));
	rename = async (name: string) => void (await this.call('conversations.rename', { name }));
	setTopic = async (topic: string) => void (await this.call('conversations.setTopic', { topic }));
	setPurpose = async (purpose: string) => void (await this.call('conversations.setPurpose', { purpose }));
	leave = async () => void (await this.call('conversations.leave', {}));
	archive = async () => void (await this.call('conversations.archive', {}));

	/** Call when the view of the conversation may have changed. */
	touch(): void {
		this.cell.touch();
	}

	/** Applies an event about a message of the conversation. */
	receive(event: Wire): void {
		this.window.loader.receive(event);
		this.cell.touch();
	}

	/** The messages may be outdated: drops them, and reloads them if the store has subscribers. */
	forget(): void {
		this.window.forget();
		this.cell.touch();
		this.loadWatched();
	}

	/** Loads what could not be loaded without a connection. */
	online(): void {
		this.loadWatched();
	}

	private loadWatched(): void {
		if (this.cell.isWatched && this.core.isReady()) this.core.background(this.load());
	}

	private readable(): Readable | null {
		const conversation = this.core.state.conversations.get(this.id);
		if (!conversation) return null;
		const { messages, hasOlder } = this.window;
		const { lastRead, hasUnreads } = conversation;
		const { state } = this.core;
		return { messages, hasOlder, lastRead, hasUnreads, revision: state.revision(this.id), self: state.self };
	}

	private async markSeen({ upTo, single }: DueMarks): Promise<void> {
		if (single.length > 0) this.core.singleMarks.mark(this.id, single);
		if (upTo !== null) await this.core.marks.mark(this.id, upTo);
	}

	private newest(): string {
		return this.core.state.conversations.get(this.id)?.latest ?? NEVER;
	}

	private view(previous: ConversationView | undefined): ConversationView {
		const { messages, isLoaded, hasOlder, hasNewer, loader } = this.window;
		const { outbox, typing, state } = this.core;
		const unsent = outbox.of(this.id).filter(({ threadTs, isBroadcast }) => !threadTs || isBroadcast);
		return {
			id: this.id,
			conversation: state.conversations.get(this.id) ?? null,
			messages: withUnsent(previous?.messages, messages, unsent),
			isLoaded,
			isLoading: loader.isLoading,
			hasOlder,
			hasNewer,
			typing: typing.in(this.id),
			error: loader.error,
		};
	}

	private async reaction(method: string, timestamp: string, name: string): Promise<void> {
		try {
			await this.call(method, { timestamp, name });
		} catch (error) {
			if (!ALREADY_DONE.includes(codeOf(error))) throw error;
		}
	}

	private call(method: string, args: object): Promise<Answer> {
		return this.core.api.call(method, { channel: this.id, ...args });
	}

	private callIdempotent(method: string, args: object): Promise<Answer> {
		return this.core.api.callIdempotent(method, { channel: this.id, ...args });
	}

	/** Calls a method that changes the user's read state or settings in the conversation, and applies the counts in its answer. */
	private async change(method: string, args: object): Promise<Counts> {
		const counts = toCounts(await this.call(method, args));
		this.core.state.setCounts(this.id, counts);
		return counts;
	}
}
