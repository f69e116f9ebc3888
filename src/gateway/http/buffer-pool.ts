/**
 * Reuses buffers for large answers: the operating system maps fresh memory page by page as it is written, which
 * takes longer for megabytes than writing them.
 *
 * The number and size of cached buffers are bounded; unused ones are released after a while.
 */

const KEPT = 4;
const LARGEST_KEPT_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 30_000;

export class Scratch {
	/** Smallest first. */
	private spare: Buffer<ArrayBuffer>[] = [];
	private readonly idle = setTimeout(() => {
		this.spare = [];
	}, IDLE_MS);

	constructor() {
		this.idle.unref();
	}

	/** Returns a buffer of at least this size with undefined content. */
	take(size: number): Buffer<ArrayBuffer> {
		const index = this.spare.findIndex((buffer) => buffer.length >= size);
		const [found] = index < 0 ? [] : this.spare.splice(index, 1);
		return found ?? Buffer.allocUnsafeSlow(size);
	}

	/** The caller must not use the buffer afterwards. */
	giveBack(buffer: Buffer<ArrayBuffer>): void {
		if (buffer.length > LARGEST_KEPT_BYTES) return;
		this.spare.push(buffer);
		this.spare.sort((a, b) => a.length - b.length);
		// Keep the largest ones.
		if (this.spare.length > KEPT) this.spare.shift();
		this.idle.refresh();
	}
}
