import { CLOSE_CODES, type CloseReason } from '../../model/errors.ts';

/** What a connection needs of a socket; Bun's ServerWebSocket is one. */
export interface Socket {
	send(frame: string): number;
	cork(callback: () => void): unknown;
	close(code: number, reason: string): void;
}

/**
 * One socket of a user. Frames that are due in one turn of the event loop go out in one write: system
 * calls are what deliveries cost.
 */
export class Connection {
	/** Frames reach the socket only after its hello. */
	private open = false;
	private ended = false;
	private first: string | undefined;
	private rest: string[] | undefined;

	constructor(
		readonly id: string,
		readonly user: string,
		readonly team: string,
		readonly tokenHash: string,
		/** The client asked to be told counts that it cannot derive. */
		readonly wantsCounts: boolean,
		private readonly socket: Socket,
		private readonly scheduleFlush: (connection: Connection) => void,
	) {}

	/** Closed, from whichever side. */
	get isOver(): boolean {
		return this.ended;
	}

	/** Starts delivery with these frames. */
	begin(...frames: readonly string[]): void {
		if (this.ended) return;
		this.open = true;
		for (const frame of frames) this.send(frame);
	}

	send(frame: string): void {
		if (!this.open) return;
		if (this.first === undefined) {
			this.first = frame;
			this.scheduleFlush(this);
		} else if (this.rest) this.rest.push(frame);
		else this.rest = [frame];
	}

	flush(): void {
		const { first, rest } = this;
		this.first = undefined;
		this.rest = undefined;
		if (first === undefined || !this.open) return;
		if (!rest) {
			this.socket.send(first);
			return;
		}
		this.socket.cork(() => {
			this.socket.send(first);
			for (const frame of rest) this.socket.send(frame);
		});
	}

	close(reason: CloseReason): void {
		this.flush();
		this.open = false;
		this.ended = true;
		this.socket.close(CLOSE_CODES[reason].code, CLOSE_CODES[reason].meaning);
	}

	/** The socket is gone. */
	closed(): void {
		this.open = false;
		this.ended = true;
		this.first = undefined;
		this.rest = undefined;
	}
}
