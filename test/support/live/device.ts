import type { Call } from '../api.ts';
import { type Event, LiveCounts } from './counts.ts';

/** A device that keeps its counts up to date from the events of its socket, and can disconnect and reconnect. */

export class Device {
	readonly counts: LiveCounts;
	readonly resyncs: string[] = [];
	/** The newest position received. */
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

	/** Connects with a fresh snapshot the first time, and resumes later. */
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

	/** Resolves when everything in flight has arrived: the answer to a ping arrives after it. */
	async settle(): Promise<void> {
		// The server pushes counts one turn after the event that changed them; two pings cover both.
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
