import { Rejection } from '../../model/errors.ts';
import type { Hold, MemoryBudget } from '../memory-budget.ts';

/**
 * The body of one request. Bun buffers about the first megabyte of a body even if it is not read. Therefore the announced size (up to
 * MAX_BUFFERED_BYTES) is reserved in the memory budget until the body was read or the request is answered. A body that arrives too
 * slowly is rejected.
 */

/**
 * The most memory that one body takes: up to `MAX_BODY_BYTES` that were read, and about as much that Bun buffers. Reserved for a body of
 * unknown length.
 */
export const MAX_BUFFERED_BYTES = 2 * 1024 * 1024;

export class IncomingBody {
	/** 0: there is no body. */
	readonly bytes: number;
	private held: Hold | undefined;
	private rejection: Rejection | undefined;
	private rejectRead: ((reason: Rejection) => void) | undefined;

	constructor(
		request: Request,
		private readonly budget: MemoryBudget,
	) {
		this.bytes = announcedBytes(request);
	}

	/** The body was rejected before it was complete: the connection cannot be reused. */
	get isBroken(): boolean {
		return this.rejection !== undefined;
	}

	/** Reserves the size of the body under this key, instead of under an earlier one. Throws a Rejection if there is no room. */
	hold(key: string, forMs: number): void {
		if (this.bytes === 0) return;
		this.release();
		const held = this.budget.hold(key, this.bytes, forMs, (reason) => this.end(reason));
		if (!held) throw noRoom();
		this.held = held;
	}

	/** Resolves with `reading`, or rejects as soon as the budget ends the hold. */
	read<T>(reading: Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			this.rejectRead = reject;
			reading.then(resolve, reject);
			if (this.rejection) reject(this.rejection);
		});
	}

	release(): void {
		this.held?.release();
		this.held = undefined;
	}

	private end(reason: 'evicted' | 'expired'): void {
		this.rejection = reason === 'expired' ? new Rejection('request_timeout') : noRoom();
		this.rejectRead?.(this.rejection);
	}
}

const noRoom = (): Rejection =>
	new Rejection('ratelimited', 'too many request bodies in flight from this user or address', 1);

function announcedBytes(request: Request): number {
	const length = request.headers.get('content-length');
	if (length === null) return request.headers.get('transfer-encoding') === null ? 0 : MAX_BUFFERED_BYTES;
	// readBody rejects a value that is not a number.
	return Math.min(Number(length) || 0, MAX_BUFFERED_BYTES);
}
