/** A Map with immutable snapshots: copied on the first write after a snapshot was taken. */
export class SharedMap<K, V> {
	private map: Map<K, V>;
	private isShared = false;

	constructor(private readonly copy = (entries: Iterable<readonly [K, V]>) => new Map(entries)) {
		this.map = copy([]);
	}

	/** Bypasses the `get` of the copies, which may report who reads a snapshot. */
	get(key: K): V | undefined {
		return Map.prototype.get.call(this.map, key);
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
		this.renew([]);
	}

	/** Makes the next snapshot a new Map. */
	renew(entries: Iterable<readonly [K, V]> = this.map): void {
		this.map = this.copy(entries);
		this.isShared = false;
	}

	private own(): Map<K, V> {
		if (this.isShared) this.renew();
		return this.map;
	}
}
