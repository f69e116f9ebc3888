import { type Answer, type Call, rawClient } from '../api.ts';
import type { Event } from '../live/counts.ts';
import type { Person } from '../people.ts';
import { ResumePosition } from '../resume/position.ts';
import { noRepeats, patientCall } from './patient-call.ts';

/**
 * A client of a cluster that partly fails: it reconnects whenever its socket closes, resumes from its position, and
 * reloads after `resync`. It applies events in order of arrival, as docs/resuming.md describes. It ignores outdated rows, but
 * no messages, edits or deletes, so that late ones are visible in its state.
 */

export interface ShownMark {
	readonly last_read: string;
	readonly revision: number;
	readonly is_muted: boolean;
}

export type Kind = 'messages' | 'edits' | 'deletes' | 'marks';

const MARKS = new Set(['channel_marked', 'group_marked', 'conversation_preference_changed']);
const PAUSE_MS = 100;

export class Watcher {
	/** Texts by channel and ts, including replies. */
	messages = new Map<string, string>();
	/** Cursors by channel. */
	marks = new Map<string, ShownMark>();
	/** By channel: the position of the newest row that a mark carried. */
	private readonly rowPositions = new Map<string, string>();
	/** Number of received events, including resumed ones. */
	readonly received: Record<Kind, number> = { messages: 0, edits: 0, deletes: 0, marks: 0 };
	/** The first connection makes it 0. */
	reconnects = -1;
	resyncs = 0;
	private readonly position = new ResumePosition();
	private socket: WebSocket | undefined;
	private stopped = false;
	private readonly running: Promise<void>;
	private readonly patiently: Call;
	private readonly connected = Promise.withResolvers<void>();

	constructor(
		private readonly url: string,
		readonly person: Person,
		private readonly channels: readonly string[],
		/** Whether the user posts. A post moves its author's cursor without a mark event, so cursors are not compared then. */
		private readonly writes = false,
	) {
		this.patiently = patientCall(url, person, noRepeats());
		this.running = this.run();
	}

	/** Resolves when the client has connected for the first time. */
	get ready(): Promise<void> {
		return Promise.race([this.connected.promise, this.running]);
	}

	async stop(): Promise<void> {
		this.stopped = true;
		this.socket?.close();
		await this.running;
	}

	/** Differences between the client's state and the server's. */
	async differences(): Promise<string[]> {
		const truth = await this.fetched();
		const found: string[] = [];
		for (const [key, text] of truth.messages)
			if (!this.messages.has(key)) found.push(`missing: ${key} ${text}`);
			else if (this.messages.get(key) !== text)
				found.push(`old text: ${key} ${this.messages.get(key)}, not ${text}`);
		for (const [key, text] of this.messages)
			if (!truth.messages.has(key)) found.push(`not deleted: ${key} ${text}`);
		for (const [channel, mark] of this.writes ? [] : truth.marks) {
			const [shown, expected] = [this.marks.get(channel), mark].map((one) => JSON.stringify(one));
			if (shown !== expected) found.push(`mark: ${channel} ${shown}, not ${expected}`);
		}
		return found;
	}

	private async run(): Promise<void> {
		while (!this.stopped) {
			if (this.position.current === '') await this.begin();
			await this.listen();
			if (!this.stopped) await Bun.sleep(PAUSE_MS);
		}
	}

	private async begin(): Promise<void> {
		// First the position, then newer state: events since the position are applied on top.
		const { position } = await this.patiently('client.counts');
		const { messages, marks } = await this.fetched();
		Object.assign(this, { messages, marks });
		this.position.current = position;
	}

	private async fetched() {
		const messages = new Map<string, string>();
		for (const channel of this.channels)
			for (const message of await this.historyOf(channel)) {
				messages.set(`${channel} ${message.ts}`, message.text);
				if (message.reply_count === undefined) continue;
				const thread = await this.pages('conversations.replies', { channel, ts: message.ts });
				for (const { ts, text } of thread) messages.set(`${channel} ${ts}`, text);
			}
		const { channels } = await this.patiently('client.counts');
		const rows: Event[] = channels.filter(({ id }: Event) => this.channels.includes(id));
		return { messages, marks: new Map(rows.map((row) => [row.id as string, markOf(row)])) };
	}

	private historyOf = (channel: string): Promise<Event[]> => this.pages('conversations.history', { channel });

	private async pages(method: string, args: object): Promise<Event[]> {
		const found: Event[] = [];
		for (let cursor = ''; ; ) {
			const page = await this.patiently(method, { ...args, limit: 1000, cursor });
			found.push(...page.messages);
			cursor = page.response_metadata?.next_cursor ?? '';
			if (cursor === '') return found;
		}
	}

	/** Resolves when the socket is closed. */
	private async listen(): Promise<void> {
		const call = rawClient(this.url, this.person.token);
		const answer: Answer | null = await call('rtm.connect', { since: this.position.current }).catch(
			() => null,
		);
		if (!answer?.ok || this.stopped) return;
		const socket = new WebSocket(answer.url);
		this.socket = socket;
		this.position.connecting();
		await new Promise<void>((resolve) => {
			socket.onmessage = ({ data }) => this.receive(JSON.parse(String(data)), socket);
			socket.onclose = () => resolve();
		});
	}

	private receive(event: Event, socket: WebSocket): void {
		if (this.socket !== socket) return;
		if (event.type === 'hello') {
			this.reconnects += 1;
			this.connected.resolve();
		}
		if (event.type === 'resync') {
			this.resyncs += 1;
			this.position.current = '';
			this.socket = undefined;
			socket.close();
			return;
		}
		this.apply(event);
		this.position.receive(event);
	}

	private apply(event: Event): void {
		if (MARKS.has(event.type) && this.channels.includes(event.channel)) {
			this.received.marks += 1;
			// Marks of two gateways may arrive out of order: as the docs say, a row with a smaller position changes nothing.
			if (isOlder(event.position, this.rowPositions.get(event.channel))) return;
			this.rowPositions.set(event.channel, event.position);
			this.marks.set(event.channel, markOf(event));
		}
		if (event.type !== 'message' || !this.channels.includes(event.channel)) return;
		const { channel, subtype } = event;
		if (subtype === 'message_deleted') {
			this.received.deletes += 1;
			this.messages.delete(`${channel} ${event.deleted_ts}`);
		} else if (subtype === 'message_changed') {
			this.received.edits += 1;
			const key = `${channel} ${event.message.ts}`;
			if (this.messages.has(key)) this.messages.set(key, event.message.text);
		} else if (subtype === undefined || subtype === 'thread_broadcast') {
			this.received.messages += 1;
			this.messages.set(`${channel} ${event.ts}`, event.text);
		}
	}
}

const HALF = 16;

/** A position of a row has two halves: the stamps of its conversation and of the user. */
const isOlder = (position: string, known = ''): boolean =>
	position !== known &&
	position.slice(0, HALF) <= known.slice(0, HALF) &&
	position.slice(HALF) <= known.slice(HALF);

const markOf = ({ last_read, revision, is_muted }: Event): ShownMark => ({ last_read, revision, is_muted });
