/**
 * Buffers for large answers, used again. Memory that was not used before is given by the operating system page
 * by page as it is written to, which for megabytes takes longer than the writing.
 *
 * What is kept is bounded in number and in size, and released when unused for a while.
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

	/** At least as large; what is in it is anything. */
	take(size: number): Buffer<ArrayBuffer> {
		const index = this.spare.findIndex((buffer) => buffer.length >= size);
		const [found] = index < 0 ? [] : this.spare.splice(index, 1);
		return found ?? Buffer.allocUnsafeSlow(size);
	}

	/** Nothing may read or write it from here on. */
	giveBack(buffer: Buffer<ArrayBuffer>): void {
		if (buffer.length > LARGEST_KEPT_BYTES) return;
		this.spare.push(buffer);
		this.spare.sort((a, b) => a.length - b.length);
		// The largest are the ones worth keeping.
		if (this.spare.length > KEPT) this.spare.shift();
		this.idle.refresh();
	}
}
