/**
 * What was decided and is not written yet, over all partitions of a worker, in bytes of its memory. While it is full, as when the
 * database is unavailable for long, no more is taken from the log: there it is safe, and costs this process nothing.
 */
export class Backlog {
	private bytes = 0;
	private emptied: PromiseWithResolvers<void> | null = null;

	/** `most`: it is full with more. What is being decided at that moment still comes on top. */
	constructor(private readonly most: number) {}

	add(bytes: number): void {
		this.bytes += bytes;
	}

	remove(bytes: number): void {
		this.bytes -= bytes;
		if (this.isFull) return;
		this.emptied?.resolve();
		this.emptied = null;
	}

	get isFull(): boolean {
		return this.bytes > this.most;
	}

	/** Null: there is room. */
	room(): Promise<void> | null {
		if (!this.isFull) return null;
		this.emptied ??= Promise.withResolvers();
		return this.emptied.promise;
	}
}
