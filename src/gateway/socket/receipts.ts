import type { Connection } from './connection.ts';

/**
 * Messages that were delivered to a socket and are not confirmed yet. A ping follows the messages on the same
 * stream, so its pong confirms that the client received everything before it. Each socket has one ping in flight;
 * messages delivered meanwhile are covered by the next one.
 */

export interface Delivered {
	readonly conversation: string;
	readonly ts: number;
	/** The revision that the device last saw. */
	readonly revision: number | undefined;
}

/** Minimum time between two pings of one socket. */
const PING_GAP_MS = 250;
/** Per socket. The oldest beyond it are dropped and stay unread. */
const MAX_UNCONFIRMED = 10_000;

interface Unconfirmed {
	/** Messages delivered before the ping in flight; undefined: no ping is in flight. */
	awaited: { readonly ping: number; delivered: Delivered[] } | undefined;
	/** Messages that the next ping covers. */
	later: Delivered[];
	pingedAt: number;
	timer: ReturnType<typeof setTimeout> | undefined;
}

export interface ReceiptsParts {
	/** Sends a ping after everything sent so far; returns its number. */
	readonly ping: (connection: Connection) => number;
	readonly confirmed: (connection: Connection, delivered: readonly Delivered[]) => void;
}

export class Receipts {
	private readonly sockets = new Map<Connection, Unconfirmed>();

	constructor(private readonly parts: ReceiptsParts) {}

	delivered(connection: Connection, message: Delivered): void {
		let socket = this.sockets.get(connection);
		if (!socket) {
			socket = { awaited: undefined, later: [], pingedAt: Number.NEGATIVE_INFINITY, timer: undefined };
			this.sockets.set(connection, socket);
		}
		socket.later.push(message);
		if (socket.later.length > MAX_UNCONFIRMED) socket.later.shift();
		this.pingNext(connection, socket);
	}

	/** The client answered the ping with this number. */
	ponged(connection: Connection, ping: number): void {
		const socket = this.sockets.get(connection);
		if (!socket?.awaited || socket.awaited.ping !== ping) return;
		const { delivered } = socket.awaited;
		socket.awaited = undefined;
		this.pingNext(connection, socket);
		if (delivered.length > 0) this.parts.confirmed(connection, delivered);
	}

	/** Number of messages that the client has not confirmed. */
	unconfirmed(connection: Connection): number {
		const socket = this.sockets.get(connection);
		return (socket?.awaited?.delivered.length ?? 0) + (socket?.later.length ?? 0);
	}

	/** Drops the messages of a conversation that is no longer in focus. */
	forget(connection: Connection, conversation: string): void {
		const socket = this.sockets.get(connection);
		if (!socket) return;
		const others = (all: Delivered[]) => all.filter((one) => one.conversation !== conversation);
		socket.later = others(socket.later);
		if (socket.awaited) socket.awaited.delivered = others(socket.awaited.delivered);
	}

	ended(connection: Connection): void {
		clearTimeout(this.sockets.get(connection)?.timer);
		this.sockets.delete(connection);
	}

	private pingNext(connection: Connection, socket: Unconfirmed): void {
		if (socket.awaited || socket.timer || socket.later.length === 0) return;
		const wait = socket.pingedAt + PING_GAP_MS - performance.now();
		if (wait > 0) {
			socket.timer = setTimeout(() => {
				socket.timer = undefined;
				this.pingNext(connection, socket);
			}, wait);
			return;
		}
		socket.pingedAt = performance.now();
		socket.awaited = { ping: this.parts.ping(connection), delivered: socket.later };
		socket.later = [];
	}
}
