import type { Call } from '../api.ts';
import type { Event } from '../live/counts.ts';
import { isOnCluster } from '../server.ts';
import { Known } from './known.ts';
import { ResumePosition } from './position.ts';

/** A device that builds its state from events, can be disconnected at any moment, and resumes from its position. */

const PATIENCE_MS = 20_000;

export class ResumingDevice {
	readonly known: Known;
	readonly events: Event[] = [];
	readonly resyncs: string[] = [];
	private readonly position = new ResumePosition();
	private socket: WebSocket | undefined;
	private readonly waiting = new Map<(event: Event) => boolean, () => void>();
	private nextId = 100;

	constructor(
		readonly user: string,
		public call: Call,
	) {
		this.known = new Known(user, isOnCluster());
	}

	/** Connects with a snapshot the first time, and resumes later. */
	async connect(): Promise<Event> {
		if (this.position.current === '') return this.begin();
		return this.open({ counts: true, since: this.position.current });
	}

	private async begin(): Promise<Event> {
		const counts = await this.call('client.counts');
		this.known.counts.snapshot(counts);
		for (const { id } of [...counts.channels, ...counts.mpims, ...counts.ims]) this.known.enter(id);
		this.position.current = counts.position;
		return this.open({ counts: true, since: this.position.current });
	}

	/**
	 * Retries if the server closes the socket before hello, as it does while it cannot read the missed events.
	 */
	private async open(args: object): Promise<Event> {
		for (;;) {
			const { url } = await this.call('rtm.connect', { ...args });
			const socket = new WebSocket(url);
			this.socket = socket;
			this.position.connecting();
			const hello = this.next(({ type }) => type === 'hello');
			// Data after the cut are lost, as when a network fails.
			socket.onmessage = ({ data }) => {
				if (this.socket === socket) this.receive(JSON.parse(String(data)));
			};
			const closed = new Promise<null>((resolve) => {
				socket.onclose = () => resolve(null);
			});
			const frame = await Promise.race([hello, closed]);
			if (frame) return frame;
		}
	}

	cut(): void {
		const { socket } = this;
		this.socket = undefined;
		socket?.close();
	}

	get connected(): boolean {
		return this.socket !== undefined;
	}

	/** Resolves when everything in flight has arrived; the server pushes counts a little after the event that changed them. */
	async settle(): Promise<void> {
		for (let times = 0; times < 3; times += 1) {
			const id = this.nextId++;
			const pong = this.next(({ type, reply_to }) => type === 'pong' && reply_to === id);
			this.socket?.send(JSON.stringify({ type: 'ping', id }));
			await pong;
			await Bun.sleep(30);
		}
	}

	next(matches: (event: Event) => boolean): Promise<Event> {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error(`timed out waiting for ${matches}`)), PATIENCE_MS);
			const check = (event: Event): boolean => {
				if (!matches(event)) return false;
				clearTimeout(timer);
				resolve(event);
				return true;
			};
			this.waiting.set(check, () => this.waiting.delete(check));
		});
	}

	private receive(event: Event): void {
		this.events.push(event);
		if (event.type === 'resync') this.resyncs.push(event.reason);
		this.known.apply(event);
		this.position.receive(event);
		for (const [check, end] of this.waiting) if (check(event)) end();
	}
}
