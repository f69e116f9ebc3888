/**
 * A cache of copies with a limit in bytes. It evicts the oldest copies first; a copy that was used since the last eviction gets a
 * second chance.
 */

/** A cache that is fuller than this has no room for copies that nobody requested. */
const ROOMY = 0.9;

interface Sized {
	readonly id: string;
	readonly bytes: number;
	used: boolean;
}

export class CopyCache<Copy extends Sized> {
	private readonly copies = new Map<string, Copy>();
	/** Sizes when the copies were added. */
	private readonly sizes = new Map<string, number>();
	bytes = 0;

	constructor(private readonly mostBytes: number) {}

	get hasRoom(): boolean {
		return this.bytes < this.mostBytes * ROOMY;
	}

	get(id: string): Copy | undefined {
		return this.copies.get(id);
	}

	/** Also call it when a copy has grown. */
	put(copy: Copy): void {
		const { id, bytes } = copy;
		copy.used = true;
		this.bytes += bytes - (this.sizes.get(id) ?? 0);
		this.copies.set(id, copy);
		this.sizes.set(id, bytes);
		if (this.bytes > this.mostBytes) this.evict();
	}

	private evict(): void {
		// A copy with a second chance moves to the end, and is considered again when it is the oldest.
		for (const [id, copy] of this.copies) {
			if (this.bytes <= this.mostBytes) return;
			if (copy.used) {
				copy.used = false;
				this.copies.delete(id);
				this.copies.set(id, copy);
			} else this.remove(id);
		}
	}

	remove(id: string): void {
		if (!this.copies.delete(id)) return;
		this.bytes -= this.sizes.get(id) ?? 0;
		this.sizes.delete(id);
	}

	removeIf(isToGo: (copy: Copy) => boolean): void {
		for (const [id, copy] of [...this.copies]) if (isToGo(copy)) this.remove(id);
	}

	clear(): void {
		this.copies.clear();
		this.sizes.clear();
		this.bytes = 0;
	}
}
