/**
 * Copies of something, of no more than so many bytes together. When there are more, the oldest go; one that was used since it was
 * met the last time is passed over once.
 */

interface Sized {
	readonly id: string;
	readonly bytes: number;
	used: boolean;
}

export class CopyCache<Copy extends Sized> {
	private readonly copies = new Map<string, Copy>();
	/** As they were when they were put here. */
	private readonly sizes = new Map<string, number>();
	bytes = 0;

	constructor(private readonly mostBytes: number) {}

	get size(): number {
		return this.copies.size;
	}

	get(id: string): Copy | undefined {
		return this.copies.get(id);
	}

	/** Also where it has grown. */
	put(copy: Copy): void {
		const { id, bytes } = copy;
		copy.used = true;
		this.bytes += bytes - (this.sizes.get(id) ?? 0);
		this.copies.set(id, copy);
		this.sizes.set(id, bytes);
		if (this.bytes > this.mostBytes) this.evict();
	}

	private evict(): void {
		// What is passed over comes to the end, and is met again when it is the oldest.
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
