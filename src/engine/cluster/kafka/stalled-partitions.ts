import type { Unreadable } from './errors.ts';

/** Notified of stalled partitions of this process. */
export interface PartitionWatch {
	/** The partition cannot be read until an operator does what the error says. Called again at each attempt. */
	onStalled(partition: string, error: Error): void;
	/** The partition is readable again, or was reassigned. */
	onResumed(partition: string): void;
}

/** Stalled partitions of this process: from a failed read to a successful one. */
export class StalledPartitions {
	private readonly reasons = new Map<string, Unreadable>();

	constructor(private readonly watch: PartitionWatch) {}

	stalled(partition: string, reason: Unreadable): void {
		this.reasons.set(partition, reason);
		this.watch.onStalled(partition, reason);
	}

	/** The reader has reached this offset: ends the stall if that is enough. */
	reached(partition: string, offset: number): void {
		if (this.reasons.get(partition)?.isOverAt(offset)) this.clear(partition);
	}

	clear(partition: string): void {
		if (this.reasons.delete(partition)) this.watch.onResumed(partition);
	}
}
