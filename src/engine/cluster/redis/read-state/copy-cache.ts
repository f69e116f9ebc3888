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
	/** With the size of each when it was put here. */
	private readonly entries = new Map<string, { readonly copy: Copy; readonly bytes: number }>();
	bytes = 0;

	constructor(private readonly mostBytes: number) {}

	get hasRoom(): boolean {
		return this.bytes < this.mostBytes * ROOMY;
	}

	get(id: string): Copy | undefined {
		return this.entries.get(id)?.copy;
	}

	/** Also call it when a copy has grown. */
	put(copy: Copy): void {
		const { id, bytes } = copy;
		this.remove(id);
		this.entries.set(id, { copy, bytes });
		this.bytes += bytes;
		copy.used = true;
		if (this.bytes > this.mostBytes) this.evict();
	}

	private evict(): void {
		for (const [id, entry] of this.entries) {
			if (this.bytes <= this.mostBytes) return;
			if (entry.copy.used) {
				// Its second chance: moved to the end, it is considered again when it is the oldest.
				entry.copy.used = false;
				this.entries.delete(id);
				this.entries.set(id, entry);
			} else this.remove(id);
		}
	}

	remove(id: string): void {
		this.bytes -= this.entries.get(id)?.bytes ?? 0;
		this.entries.delete(id);
	}

	removeIf(matches: (copy: Copy) => boolean): void {
		for (const [id, { copy }] of [...this.entries]) if (matches(copy)) this.remove(id);
	}

	clear(): void {
		this.entries.clear();
		this.bytes = 0;
	}
}
