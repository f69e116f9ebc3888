import { Refusal } from '../../model/errors.ts';
import type { Hold, MemoryBudget } from '../memory-budget.ts';

/**
 * The body of one request. Bun takes it in as it arrives, read or not, so memory for all of it is held from the first moment
 * until it was read or the request is answered; it arrives in time or not at all.
 */

/** Held for a body without a length; reading it ends at half of it (`MAX_BODY_BYTES`). */
export const MOST_BUFFERED_BYTES = 2 * 1024 * 1024;

export class IncomingBody {
	/** 0: there is none. */
	readonly bytes: number;
	private held: Hold | undefined;
	private over: Refusal | undefined;
	private giveUp: ((reason: Refusal) => void) | undefined;

	constructor(
		request: Request,
		private readonly budget: MemoryBudget,
	) {
		this.bytes = announcedBytes(request);
	}

	/** It was ended before all of it was there: the connection is of no more use. */
	get isBroken(): boolean {
		return this.over !== undefined;
	}

	/** In place of what was held before under another key. Throws a Refusal where there is no room for it. */
	hold(key: string, forMs: number): void {
		if (this.bytes === 0) return;
		this.release();
		const held = this.budget.hold(key, this.bytes, forMs, (reason) => this.end(reason));
		if (!held) throw noRoom();
		this.held = held;
	}

	/** What is read of it, unless it is given up meanwhile. */
	read<T>(reading: Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			this.giveUp = reject;
			reading.then(resolve, reject);
			if (this.over) reject(this.over);
		});
	}

	release(): void {
		this.held?.release();
		this.held = undefined;
	}

	private end(reason: 'evicted' | 'expired'): void {
		this.over = reason === 'expired' ? new Refusal('request_timeout') : noRoom();
		this.giveUp?.(this.over);
	}
}

const noRoom = (): Refusal =>
	new Refusal('ratelimited', 'this sender has too many request bodies in flight', 1);

function announcedBytes(request: Request): number {
	const length = request.headers.get('content-length');
	if (length === null) return request.headers.get('transfer-encoding') === null ? 0 : MOST_BUFFERED_BYTES;
	// The reader of the body rejects a value that is not a number.
	return Math.min(Number(length) || 0, MOST_BUFFERED_BYTES);
}
