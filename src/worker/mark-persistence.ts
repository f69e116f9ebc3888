import type { ReadFact } from '../engine/ports/facts.ts';
import type { LogSpan, MarkLog, MarkPersister } from '../engine/ports/log.ts';
import type { PartitionLedger } from '../engine/ports/store.ts';
import type { StoredPartitions } from './rollback-watch.ts';

/** Persists the marks of the log, and remembers up to which offset the store has confirmed them. */
export class MarkPersistence implements MarkPersister, StoredPartitions {
	private readonly offsets = new Map<string, number>();
	private readonly consumption: ReturnType<MarkLog['consume']>;

	constructor(
		log: Pick<MarkLog, 'consume'>,
		private readonly ledger: PartitionLedger,
	) {
		this.consumption = log.consume(this);
	}

	async progress(partition: string): Promise<number> {
		const offset = await this.ledger.nextOffset(partition);
		this.offsets.set(partition, offset);
		return offset;
	}

	logId(partition: string): Promise<string | null> {
		return this.ledger.logIdOf(partition);
	}

	async persist(facts: readonly ReadFact[], span: LogSpan): Promise<void> {
		await this.ledger.commitWithProgress(facts, span);
		this.offsets.set(span.partition, span.to);
	}

	onRevoked(partitions: readonly string[]): void {
		for (const partition of partitions) this.offsets.delete(partition);
	}

	confirmed(): ReadonlyMap<string, number> {
		return new Map(this.offsets);
	}

	resumeFromStore(partition: string): void {
		this.consumption.restart(partition);
	}
}
