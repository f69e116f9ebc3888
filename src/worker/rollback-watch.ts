import type { PartitionLedger } from '../engine/ports/store.ts';
import { PeriodicJob } from '../model/periodic-job.ts';
import { RolledBack } from './persist-behind.ts';

/**
 * Detects that the store lost transactions that it had confirmed, as after a failover to a replica that was behind. A worker also
 * notices this when it next loads or persists state of the partition, but that can be a long time away. Until then acknowledged
 * messages would be missing, and a rebuild would wait for marks that no worker writes again.
 */

/** Partitions of the log whose records this process persists. */
export interface StoredPartitions {
	/** The store has confirmed everything below these offsets. */
	confirmed(): ReadonlyMap<string, number>;
	/** Discards the state of the partition, and processes the log again from the offset in the store. */
	resumeFromStore(partition: string): void;
}

export interface RollbackWatchParts {
	readonly ledger: Pick<PartitionLedger, 'nextOffsets'>;
	readonly watched: readonly StoredPartitions[];
	readonly report: (error: unknown, about: string) => void;
}

const EVERY_MS = 5_000;

export class RollbackWatch {
	private job: PeriodicJob | undefined;

	constructor(private readonly parts: RollbackWatchParts) {}

	start(): void {
		const failed = (error: unknown): void =>
			this.parts.report(error, 'comparing the offsets in PostgreSQL with those that it had confirmed');
		this.job = new PeriodicJob(EVERY_MS, () => this.check(), failed);
	}

	/** Does not wait for a running check, because PostgreSQL may not answer. */
	stop(): void {
		void this.job?.stop();
	}

	async check(): Promise<void> {
		const { ledger, watched, report } = this.parts;
		// Read before the store's offsets, which are at least as high unless the store lost transactions.
		const before = watched.map((partitions) => ({ partitions, confirmed: partitions.confirmed() }));
		const offsets = await ledger.nextOffsets();
		for (const { partitions, confirmed } of before) compare(partitions, confirmed, offsets, report);
	}
}

function compare(
	partitions: StoredPartitions,
	before: ReadonlyMap<string, number>,
	offsets: ReadonlyMap<string, number>,
	report: RollbackWatchParts['report'],
): void {
	const now = partitions.confirmed();
	for (const [partition, confirmed] of before) {
		const offset = offsets.get(partition) ?? 0;
		// A partition that was released or restarted in the meantime has read the store's offset again, or will.
		if (offset >= Math.min(confirmed, now.get(partition) ?? 0)) continue;
		report(new RolledBack(confirmed, offset), `checking the offset of ${partition}`);
		partitions.resumeFromStore(partition);
	}
}
