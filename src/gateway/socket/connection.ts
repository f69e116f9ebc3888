import { CLOSE_CODES, type CloseReason } from '../../model/errors.ts';
import { addressedTo } from '../../protocol/addresses.ts';
import type { SentEvents } from './sent-events.ts';

/** What a connection needs of a socket; Bun's ServerWebSocket is one. */
export interface Socket {
	send(frame: string): number;
	/** A protocol ping: clients answer it by themselves, with the same data. */
	ping(data: string): number;
	cork(callback: () => void): unknown;
	close(code: number, reason: string): void;
	/** Bytes that the client has not taken yet. */
	getBufferedAmount(): number;
}

/** What is poured goes out in pieces of about this size, each when the one before it has been taken. */
const PIECE_CHARACTERS = 16 * 1024;
/** A client that takes so long to catch up that more than this happens meanwhile is cut off; it resumes. */
const MOST_HELD_CHARACTERS = 4_000_000;

interface HeldFrame {
	readonly frame: string;
	readonly at: number | undefined;
	readonly subject: string | undefined;
}

interface Held {
	readonly frames: HeldFrame[];
	characters: number;
	/** More was held than may be: the socket is closed with the next flush. */
	overflowed: boolean;
}

/** Who waits until the client has taken what was sent: few do, and a field for it would be in all. */
const wakeWhenTaken = new WeakMap<Connection, () => void>();

/**
 * One socket of a user. Frames that are due in one turn of the event loop go out in one write: system
 * calls are what deliveries cost.
 *
 * Before its hello nothing is sent to it. One that resumes holds live events back until it was sent
 * what it missed; then that follows, without what was among the missed.
 */
export class Connection {
	/** Frames reach the socket only after its hello. */
	private open = false;
	private ended = false;
	/** What is held back, while it is. */
	private held: Held | undefined;
	/** Events with a stamp up to here were sent already. */
	private caughtUpTo = 0;
	/** Frames of this turn: mostly one or none. There are many connections, and most are idle. */
	private due: string | string[] | undefined;
	/** A ping goes out with the next flush, behind the frames of it. */
	private pingIsDue = false;
	private pings = 0;
	/** Kept by the heartbeat: how many checks since the client last sent anything. */
	silentLooks = 0;
	/** Kept by the heartbeat: the client was pinged and has sent nothing since. */
	isPinged = false;

	constructor(
		readonly id: string,
		readonly user: string,
		readonly team: string,
		readonly tokenHash: string,
		/** The client asked for counts that it cannot derive. */
		readonly wantsCounts: boolean,
		private readonly socket: Socket,
		private readonly scheduleFlush: (connection: Connection) => void,
		/** How the client reaches the server, for the addresses in its frames. */
		readonly origin = '',
	) {}

	/** Closed, from whichever side. */
	get isOver(): boolean {
		return this.ended;
	}

	/** It resumes, and was not sent yet what it missed. */
	get isCatchingUp(): boolean {
		return this.held !== undefined;
	}

	/** What the client has not taken yet. */
	get bufferedBytes(): number {
		return this.ended ? 0 : this.socket.getBufferedAmount();
	}

	/** From here on frames are kept, until `release`. */
	hold(): void {
		this.held = { frames: [], characters: 0, overflowed: false };
	}

	/** Sends these, with the client's origin in their addresses, ahead of what is held, no faster than the client takes them. */
	async pour(frames: readonly string[]): Promise<void> {
		for (let next = 0; next < frames.length && !this.ended; ) {
			next = this.pourPiece(frames, next);
			while (!this.ended && this.socket.getBufferedAmount() > 0) await this.taken();
		}
	}

	private pourPiece(frames: readonly string[], from: number): number {
		let next = from;
		this.socket.cork(() => {
			for (let size = 0; next < frames.length && size < PIECE_CHARACTERS; next += 1) {
				const frame = addressedTo(this.origin, frames[next] as string);
				this.socket.send(frame);
				size += frame.length;
			}
		});
		return next;
	}

	private taken(): Promise<void> {
		return new Promise((resolve) => {
			wakeWhenTaken.set(this, resolve);
		});
	}

	/** The client has taken what was sent. */
	drained(): void {
		const wake = wakeWhenTaken.get(this);
		wakeWhenTaken.delete(this);
		wake?.();
	}

	/** Sends held and later events with a stamp after this one, without held events that `told` includes. */
	release(caughtUpTo: number, sent?: Pick<SentEvents, 'includes'>): void {
		const { held } = this;
		if (this.ended || held?.overflowed) return;
		this.held = undefined;
		this.caughtUpTo = caughtUpTo;
		this.open = true;
		for (const { frame, at, subject } of held?.frames ?? [])
			if (at === undefined || !sent?.includes(subject, at)) this.send(frame, at);
	}

	private keep(held: Held, kept: HeldFrame): void {
		if (held.overflowed) return;
		held.frames.push(kept);
		held.characters += kept.frame.length;
		if (held.characters <= MOST_HELD_CHARACTERS) return;
		held.overflowed = true;
		held.frames.length = 0;
		this.scheduleFlush(this);
	}

	/**
	 * `at`: the stamp of the change that it reports; `subject`: what it is about. Never closes: closing detaches the socket from the lists that the caller
	 * is iterating, and a socket behind it would miss the frame. Flushing does it.
	 */
	send(frame: string, at?: number, subject?: string): void {
		if (this.held) {
			this.keep(this.held, { frame, at, subject });
			return;
		}
		if (!this.open || (at !== undefined && at <= this.caughtUpTo)) return;
		if (this.due === undefined) {
			this.due = frame;
			this.scheduleFlush(this);
		} else if (typeof this.due === 'string') this.due = [this.due, frame];
		else this.due.push(frame);
	}

	/** Answers the number of the ping, which is what its pong carries. */
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
		this.over();
		this.socket.close(CLOSE_CODES[reason].code, CLOSE_CODES[reason].meaning);
	}

	/** The socket is gone. */
	closed(): void {
		this.over();
		this.due = undefined;
	}

	private over(): void {
		this.open = false;
		this.ended = true;
		this.held = undefined;
		this.drained();
	}
}
