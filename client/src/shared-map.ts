/** A Map with immutable snapshots: copied on the first write after a snapshot was taken. */
export class SharedMap<K, V> {
	private map = new Map<K, V>();
	private isShared = false;

	get(key: K): V | undefined {
		return this.map.get(key);
	}

	has(key: K): boolean {
		return this.map.has(key);
	}

	get snapshot(): ReadonlyMap<K, V> {
		this.isShared = true;
		return this.map;
	}

	set(key: K, value: V): void {
		this.own().set(key, value);
	}

	delete(key: K): void {
		if (this.map.has(key)) this.own().delete(key);
	}

	clear(): void {
		this.map = new Map();
		this.isShared = false;
	}

	private own(): Map<K, V> {
		if (this.isShared) {
			this.map = new Map(this.map);
			this.isShared = false;
		}
		return this.map;
	}
}
