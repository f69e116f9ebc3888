import type { Unreadable } from './errors.ts';

/** Told of partitions that stand still here. */
export interface PartitionWatch {
	/** It cannot be read on until somebody does what the error says. Told again at each attempt. */
	standsStill(partition: string, error: Error): void;
	/** It is read again, or is not this process's any more. */
	standsNoLonger(partition: string): void;
}

/** The partitions of this process that stand still, each since an attempt to read on failed and until one does not. */
export class Standing {
	private readonly reasons = new Map<string, Unreadable>();

	constructor(private readonly watch: PartitionWatch) {}

	stands(partition: string, reason: Unreadable): void {
		this.reasons.set(partition, reason);
		this.watch.standsStill(partition, reason);
	}

	/** It can be read from this offset on, or was read up to there. */
	reached(partition: string, offset: number): void {
		if (this.reasons.get(partition)?.isOverAt(offset)) this.givenUp(partition);
	}

	givenUp(partition: string): void {
		if (this.reasons.delete(partition)) this.watch.standsNoLonger(partition);
	}
}
