/**
 * Limits the memory of effects that wait to be persisted, over all partitions of a worker. While the backlog is full (the
 * database has been unavailable for long), the worker takes no more commands: they are durable in the log, and cost no memory there.
 */
export class Backlog {
	private bytes = 0;
	private hasRoom: PromiseWithResolvers<void> | null = null;

	/** The backlog is full above `maxBytes`. Commands in flight at that moment can exceed it. */
	constructor(private readonly maxBytes: number) {}

	add(bytes: number): void {
		this.bytes += bytes;
	}

	remove(bytes: number): void {
		this.bytes -= bytes;
		if (this.isFull) return;
		this.hasRoom?.resolve();
		this.hasRoom = null;
	}

	get isFull(): boolean {
		return this.bytes > this.maxBytes;
	}

	/** Null: there is room. */
	room(): Promise<void> | null {
		if (!this.isFull) return null;
		this.hasRoom ??= Promise.withResolvers();
		return this.hasRoom.promise;
	}
}
