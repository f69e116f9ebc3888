/**
 * The memory that effects take until they are persisted, over all partitions of a worker. While it is full (the
 * database is unavailable for long), the worker takes no more commands: they are safe in the log and cost no memory there.
 */
export class Backlog {
	private bytes = 0;
	private hasRoom: PromiseWithResolvers<void> | null = null;

	/** Full above `most` bytes. Commands in flight at that moment can exceed it. */
	constructor(private readonly most: number) {}

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
		return this.bytes > this.most;
	}

	/** Null: there is room. */
	room(): Promise<void> | null {
		if (!this.isFull) return null;
		this.hasRoom ??= Promise.withResolvers();
		return this.hasRoom.promise;
	}
}
