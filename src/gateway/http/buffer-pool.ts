/**
 * Reuses buffers for large answers: the operating system maps fresh memory page by page as it is written, which
 * takes longer for megabytes than writing them.
 *
 * The number and size of cached buffers are bounded. If no buffer is returned for a while, the cached ones are freed.
 */

const MAX_SPARE = 4;
const MAX_SPARE_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 30_000;

export class BufferPool {
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
	release(buffer: Buffer<ArrayBuffer>): void {
		if (buffer.length > MAX_SPARE_BYTES) return;
		this.spare.push(buffer);
		this.spare.sort((a, b) => a.length - b.length);
		// Keep the largest ones.
		if (this.spare.length > MAX_SPARE) this.spare.shift();
		this.idle.refresh();
	}
}
