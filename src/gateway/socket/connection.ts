import { CLOSE_CODES, type CloseReason } from '../../model/errors.ts';
import { withOrigin } from '../../protocol/addresses.ts';
import type { SentEvents } from './sent-events.ts';

/** The methods of Bun's ServerWebSocket that a connection uses. */
export interface Socket {
	send(frame: string): number;
	/** Sends a protocol ping; clients answer it automatically with the same data. */
	ping(data: string): number;
	cork(callback: () => void): unknown;
	close(code: number, reason: string): void;
	/** Bytes that the client has not read yet. */
	getBufferedAmount(): number;
}

/** `sendPaced` sends pieces of about this size, each after the client has read the one before. */
const PIECE_CHARACTERS = 16 * 1024;
/** If more than this is held while a client catches up, its socket is closed; the client resumes. */
const MAX_HELD_CHARACTERS = 4_000_000;

interface HeldFrame {
	readonly frame: string;
	readonly at: number | undefined;
	readonly subject: string | undefined;
}

interface Held {
	readonly frames: HeldFrame[];
	characters: number;
	/** More was held than allowed: the next flush closes the socket. */
	overflowed: boolean;
}

/** Callbacks that wait until the client has read everything. A map instead of a field, because few connections have one. */
const wakeWhenRead = new WeakMap<Connection, () => void>();

/**
 * One socket of a user. Frames of one turn of the event loop are sent in one write, because system calls dominate
 * the cost of delivery.
 *
 * Nothing is sent before `hello`. While a client resumes, live events are held. They are sent after the missed events, except those that
 * were among the missed events.
 */
export class Connection {
	/** Frames reach the socket only after `hello`. */
	private open = false;
	private ended = false;
	/** Frames that are held while the client resumes. */
	private held: Held | undefined;
	/** Events with a stamp up to here were already sent. */
	private caughtUpTo = 0;
	/** Frames of this turn. Usually one or none, so one frame needs no array: most connections are idle. */
	private due: string | string[] | undefined;
	/** The next flush sends a ping after its frames. */
	private pingIsDue = false;
	private pings = 0;
	/** Set by the heartbeat: number of checks since the client last sent or read something, or was pinged. */
	silentChecks = 0;
	/** Set by the heartbeat: the client was pinged, and has neither sent nor read anything since. */
	isPinged = false;

	constructor(
		readonly id: string,
		readonly user: string,
		readonly team: string,
		readonly tokenKey: string,
		/** The client requested counts that it cannot derive from events. */
		readonly wantsCounts: boolean,
		private readonly socket: Socket,
		private readonly scheduleFlush: (connection: Connection) => void,
		/** The address at which the client reaches the server, for links in its frames. */
		readonly origin = '',
	) {}

	/** Closed by either side. */
	get isClosed(): boolean {
		return this.ended;
	}

	/** The client resumes and has not been sent all missed events. */
	get isCatchingUp(): boolean {
		return this.held !== undefined;
	}

	/** Bytes that the client has not read yet. */
	get bufferedBytes(): number {
		return this.ended ? 0 : this.socket.getBufferedAmount();
	}

	/** Holds frames until `release`. */
	hold(): void {
		this.held = { frames: [], characters: 0, overflowed: false };
	}

	/**
	 * Sends these frames ahead of held ones, no faster than the client reads them, with links for the client's
	 * origin.
	 */
	async sendPaced(frames: readonly string[]): Promise<void> {
		for (let next = 0; next < frames.length && !this.ended; ) {
			next = this.sendPiece(frames, next);
			while (!this.ended && this.socket.getBufferedAmount() > 0) await this.untilRead();
		}
	}

	private sendPiece(frames: readonly string[], from: number): number {
		let next = from;
		this.socket.cork(() => {
			for (let size = 0; next < frames.length && size < PIECE_CHARACTERS; next += 1) {
				const frame = withOrigin(this.origin, frames[next] as string);
				this.socket.send(frame);
				size += frame.length;
			}
		});
		return next;
	}

	private untilRead(): Promise<void> {
		return new Promise((resolve) => {
			wakeWhenRead.set(this, resolve);
		});
	}

	/** The client has read everything that was sent. */
	drained(): void {
		const wake = wakeWhenRead.get(this);
		wakeWhenRead.delete(this);
		wake?.();
	}

	/** Sends held and later events with a stamp after `caughtUpTo`, except held events that are in `sent`. */
	release(caughtUpTo: number, sent?: Pick<SentEvents, 'includes'>): void {
		const { held } = this;
		if (this.ended || held?.overflowed) return;
		this.held = undefined;
		this.caughtUpTo = caughtUpTo;
		this.open = true;
		for (const { frame, at, subject } of held?.frames ?? [])
			if (at === undefined || !sent?.includes(subject, at)) this.send(frame, at);
	}

	private holdFrame(held: Held, heldFrame: HeldFrame): void {
		if (held.overflowed) return;
		held.frames.push(heldFrame);
		held.characters += heldFrame.frame.length;
		if (held.characters <= MAX_HELD_CHARACTERS) return;
		held.overflowed = true;
		held.frames.length = 0;
		this.scheduleFlush(this);
	}

	/**
	 * `at`: the stamp of the change; `subject`: what it is about. Never closes the socket: closing removes it from
	 * the list that the caller iterates over, and the next socket in the list would miss the frame. `flush` closes
	 * instead.
	 */
	send(frame: string, at?: number, subject?: string): void {
		if (this.held) {
			this.holdFrame(this.held, { frame, at, subject });
			return;
		}
		if (!this.open || (at !== undefined && at <= this.caughtUpTo)) return;
		if (this.due === undefined) {
			this.due = frame;
			this.scheduleFlush(this);
		} else if (typeof this.due === 'string') this.due = [this.due, frame];
		else this.due.push(frame);
	}

	/** Returns the number of the ping, which its pong carries. */
	ping(): number {
		if (!this.pingIsDue) {
			this.pingIsDue = true;
			this.pings += 1;
			this.scheduleFlush(this);
		}
		return this.pings;
	}

	flush(): void {
		if (this.held?.overflowed) {
			this.close('too_slow');
			return;
		}
		this.flushFrames();
		if (!this.pingIsDue || this.ended) return;
		this.pingIsDue = false;
		this.socket.ping(String(this.pings));
	}

	private flushFrames(): void {
		const { due } = this;
		this.due = undefined;
		if (due === undefined || !this.open) return;
		if (typeof due === 'string') {
			this.socket.send(due);
			return;
		}
		this.socket.cork(() => {
			for (const frame of due) this.socket.send(frame);
		});
	}

	close(reason: CloseReason): void {
		this.flushFrames();
		this.end();
		this.socket.close(CLOSE_CODES[reason].code, CLOSE_CODES[reason].meaning);
	}

	/** The socket was closed. */
	closed(): void {
		this.end();
		this.due = undefined;
	}

	private end(): void {
		this.open = false;
		this.ended = true;
		this.held = undefined;
		this.drained();
	}
}
