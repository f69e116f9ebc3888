/**
 * A cache in two halves: when the young half is full, it becomes the old half, and the previous old half is dropped. Dropped items
 * are loaded from the store again, so a half is dropped only once every change up to its newest stamp is durable.
 */

const HALF_SIZE = 512;

export class Recent<K, V> {
	private young = new Map<K, V>();
	private old = new Map<K, V>();
	private oldStamp = 0;

	get(key: K): V | undefined {
		const value = this.young.get(key);
		return value === undefined ? this.old.get(key) : value;
	}

	has(key: K): boolean {
		return this.young.has(key) || this.old.has(key);
	}

	set(key: K, value: V): void {
		this.young.set(key, value);
	}

	*keys(): Generator<K> {
		yield* this.young.keys();
		for (const key of this.old.keys()) if (!this.young.has(key)) yield key;
	}

	/** Call between commands: `stamp` is the newest change, `durable` the newest durable one. */
	evictOld(stamp: number, durable: number): void {
		if (this.young.size < HALF_SIZE || this.oldStamp > durable) return;
		this.old = this.young;
		this.young = new Map();
		this.oldStamp = stamp;
	}
}
