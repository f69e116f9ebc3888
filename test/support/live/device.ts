import type { Call } from '../api.ts';
import { type Event, LiveCounts } from './counts.ts';

/** A device: a socket that keeps its counts by events, and can go away and come back. */

export class Device {
	readonly counts: LiveCounts;
	readonly resyncs: string[] = [];
	/** The newest position seen on the stream. */
	position = '';
	private socket: WebSocket | undefined;
	private readonly waiting: { matches: (event: Event) => boolean; resolve: () => void }[] = [];
	private nextId = 1;

	constructor(
		readonly user: string,
		private readonly call: Call,
	) {
		this.counts = new LiveCounts(user);
	}

	/** The first time with a fresh snapshot, later resuming where it was. */
	async connect(): Promise<void> {
		const resuming = this.position !== '';
		const since = resuming ? { since: this.position } : {};
		const { url } = await this.call('rtm.connect', { counts: true, ...since });
		const socket = new WebSocket(url);
		this.socket = socket;
		const hello = this.next(({ type }) => type === 'hello');
		socket.onmessage = ({ data }) => {
			if (this.socket === socket) this.receive(JSON.parse(String(data)));
		};
		await hello;
		if (!resuming) this.counts.snapshot(await this.call('client.counts'));
		await this.settle();
	}

	disconnect(): void {
		this.socket?.close();
		this.socket = undefined;
	}

	get connected(): boolean {
		return this.socket !== undefined;
	}

	/** Resolves when everything that was on its way has come: a ping comes back after it. */
	async settle(): Promise<void> {
		// Pushed counts follow an event a turn later; two round trips are after both.
		await this.ping();
		await this.ping();
	}

	private async ping(): Promise<void> {
		const id = this.nextId++;
		const pong = this.next((event) => event.type === 'pong' && event.reply_to === id && event.probe);
		this.socket?.send(JSON.stringify({ type: 'ping', id, probe: true }));
		await pong;
	}

	send(frame: object): void {
		this.socket?.send(JSON.stringify(frame));
	}

	next(matches: (event: Event) => boolean): Promise<void> {
		return new Promise((resolve) => {
			this.waiting.push({ matches, resolve });
		});
	}

	private receive(event: Event): void {
		if (event.type === 'resync') this.resyncs.push(event.reason);
		this.counts.apply(event);
		const stamp: unknown = event.position;
		if (typeof stamp === 'string' && stamp.length === 16 && stamp > this.position) this.position = stamp;
		for (const waiter of this.waiting.splice(0)) {
			if (waiter.matches(event)) waiter.resolve();
			else this.waiting.push(waiter);
		}
	}
}
