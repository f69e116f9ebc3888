import { type Network, shortly } from './network.ts';
import type { Process } from './scheduler.ts';

/**
 * Both ends of one WebSocket. Frames in one direction keep their order. A stalled client reads nothing for a while: frames collect in the
 * buffer of the server, whose `drain` is called when they are read. A cut loses all frames in flight.
 */

export interface SocketHandlers {
	readonly open: (socket: ServerEnd) => void;
	readonly message: (socket: ServerEnd, frame: string) => void;
	readonly drain: (socket: ServerEnd) => void;
	readonly pong: (socket: ServerEnd, data: Buffer) => void;
	readonly close: (socket: ServerEnd, code: number, reason: string) => void;
	readonly backpressureLimit?: number;
}

export interface ServerEnd {
	data: unknown;
	readonly readyState: number;
	send(frame: string): number;
	ping(data: string): number;
	cork(callback: () => void): void;
	close(code: number, reason: string): void;
	getBufferedAmount(): number;
}

const OPEN = 1;
const CLOSED = 3;

export class SimulatedSocket {
	onopen: (() => void) | null = null;
	onmessage: ((event: { data: string }) => void) | null = null;
	onclose: ((event: { code: number; reason: string }) => void) | null = null;
	onerror: (() => void) | null = null;
	readyState = 0;
	private server: Process | undefined;
	private handlers: SocketHandlers | undefined;
	private end: ServerEnd | undefined;
	private isServerOpen = false;
	/** When the last frame of each direction arrives. */
	private downUntil = 0;
	private upUntil = 0;
	private stalledUntil = 0;
	private buffered = 0;
	private isCut = false;
	private readonly died = (): void => this.cut(false);

	constructor(
		private readonly network: Network,
		readonly client: Process,
	) {
		network.sockets.add(this);
		client.onDeath.add(() => this.cut(false));
	}

	begin(server: Process, handlers: SocketHandlers): void {
		this.server = server;
		this.handlers = handlers;
		server.onDeath.add(this.died);
	}

	get serverName(): string {
		return this.server?.name ?? '';
	}

	/** The server accepted the upgrade. */
	accept(data: unknown): void {
		if (this.isCut || !this.server) return;
		const socket = this;
		this.isServerOpen = true;
		this.end = {
			data,
			get readyState() {
				return socket.isServerOpen ? OPEN : CLOSED;
			},
			send: (frame) => this.down(frame),
			ping: (text) => {
				if (!this.isServerOpen) return 0;
				this.roundTrip(text);
				return text.length;
			},
			cork: (callback) => callback(),
			close: (code, reason) => this.closedByServer(code, reason),
			getBufferedAmount: () => this.buffered,
		};
		const { end, handlers } = this;
		this.network.scheduler.at(this.server, 0, 'socket opens', () => {
			handlers?.open(end as ServerEnd);
		});
		this.toClient('socket open', () => {
			this.readyState = OPEN;
			this.onopen?.();
		});
	}

	// The client end, with the interface of browsers.

	send(frame: string): void {
		if (this.readyState !== OPEN) return;
		this.toServer(`frame ${shortly(frame)}`, () => {
			if (this.isServerOpen) this.handlers?.message(this.end as ServerEnd, frame);
		});
	}

	close(): void {
		if (this.readyState === CLOSED) return;
		this.readyState = CLOSED;
		this.unregister();
		this.toServer('socket closed by its client', () => this.overAtServer(1000, ''));
	}

	// Faults.

	/** The client reads nothing for this long. */
	stall(ms: number): void {
		this.stalledUntil = this.network.scheduler.now + ms;
	}

	/** Both ends notice the cut after a delay; without `isNoticedByServer`, the server notices only when a ping stays unanswered. */
	cut(isNoticedByServer: boolean): void {
		if (this.isCut || this.readyState === CLOSED) return;
		this.isCut = true;
		const { scheduler } = this.network;
		if (isNoticedByServer && this.server)
			scheduler.at(this.server, this.network.delay(), 'socket cut', () => this.overAtServer(1006, ''));
		scheduler.at(this.client, this.network.delay(), 'socket cut', () => this.overAtClient(1006, ''));
		this.unregister();
	}

	/** No server listens at the address, or it rejected the upgrade. */
	drop(): void {
		const { network, client } = this;
		this.isCut = true;
		this.unregister();
		network.scheduler.at(client, network.delay(), 'socket refused', () => this.overAtClient(1006, ''));
	}

	get isOpen(): boolean {
		return this.readyState === OPEN && !this.isCut && this.isServerOpen;
	}

	private down(frame: string): number {
		if (!this.isServerOpen || this.isCut) return 0;
		const limit = this.handlers?.backpressureLimit ?? Number.POSITIVE_INFINITY;
		if (this.buffered + frame.length > limit) {
			this.cut(true);
			return 0;
		}
		this.buffered += frame.length;
		this.toClient(
			`got ${shortly(frame)}`,
			() => {
				this.network.arrived(this.client, frame);
				this.onmessage?.({ data: frame });
			},
			() => {
				this.buffered -= frame.length;
				if (this.buffered > 0 || !this.server) return;
				this.network.scheduler.at(this.server, 0, '', () => {
					if (this.isServerOpen) this.handlers?.drain(this.end as ServerEnd);
				});
			},
		);
		return frame.length;
	}

	private roundTrip(text: string): void {
		this.toClient('', () =>
			this.toServer('', () => {
				if (this.isServerOpen) this.handlers?.pong(this.end as ServerEnd, Buffer.from(text));
			}),
		);
	}

	private closedByServer(code: number, reason: string): void {
		if (!this.isServerOpen) return;
		this.isServerOpen = false;
		this.network.scheduler.reached(`closed by the server: ${code} ${reason}`);
		// Called before `close` returns, as in Bun.
		this.handlers?.close(this.end as ServerEnd, code, reason);
		this.toClient(`closed ${code}`, () => this.overAtClient(code, reason));
	}

	private overAtServer(code: number, reason: string): void {
		if (!this.isServerOpen) return;
		this.isServerOpen = false;
		this.handlers?.close(this.end as ServerEnd, code, reason);
	}

	private overAtClient(code: number, reason: string): void {
		if (this.readyState === CLOSED) return;
		this.readyState = CLOSED;
		this.unregister();
		this.onclose?.({ code, reason });
	}

	private unregister(): void {
		this.network.sockets.delete(this);
		this.server?.onDeath.delete(this.died);
	}

	private toClient(label: string, arrive: () => void, taken?: () => void): void {
		const { scheduler } = this.network;
		this.downUntil = Math.max(this.downUntil, this.stalledUntil, scheduler.now + this.network.delay());
		scheduler.at(this.client, this.downUntil - scheduler.now, '', () => {
			taken?.();
			if (this.isCut || this.readyState === CLOSED) return;
			if (label) scheduler.note(label);
			arrive();
		});
	}

	private toServer(label: string, arrive: () => void): void {
		if (!this.server) return;
		const { scheduler } = this.network;
		this.upUntil = Math.max(this.upUntil, scheduler.now + this.network.delay());
		scheduler.at(this.server, this.upUntil - scheduler.now, '', () => {
			if (this.isCut) return;
			if (label) scheduler.note(label);
			arrive();
		});
	}
}
