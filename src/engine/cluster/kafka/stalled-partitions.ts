import type { Unreadable } from './errors.ts';

/** Notified of stalled partitions of this process. */
export interface PartitionWatch {
	/** It cannot be read until an operator does what the error says. Called again at each attempt. */
	onStalled(partition: string, error: Error): void;
	/** It is read again, or was reassigned. */
	onResumed(partition: string): void;
}

/** The stalled partitions of this process: each since a read failed, until one succeeds. */
export class StalledPartitions {
	private readonly reasons = new Map<string, Unreadable>();

	constructor(private readonly watch: PartitionWatch) {}

	stalled(partition: string, reason: Unreadable): void {
		this.reasons.set(partition, reason);
		this.watch.onStalled(partition, reason);
	}

	/** It can be read from this offset on, or was read up to there. */
	reached(partition: string, offset: number): void {
		if (this.reasons.get(partition)?.isOverAt(offset)) this.givenUp(partition);
	}

	givenUp(partition: string): void {
		if (this.reasons.delete(partition)) this.watch.onResumed(partition);
	}
}
