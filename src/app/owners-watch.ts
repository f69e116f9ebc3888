import type { ServerOperations } from './operations.ts';
import type { ServiceWatch } from './service-watch.ts';

/**
 * Reports partitions of the command log that no worker owns, even while nobody posts. During a rebalance partitions
 * have no owner for a moment: only partitions that stay without one are reported.
 */

export interface OwnersWatchParts {
	/** Number of partitions. */
	readonly partitions: number;
	/** The partitions without an owner; null: unknown, because Kafka did not answer or a rebalance is running. */
	readonly unowned: () => Promise<readonly string[] | null>;
	readonly workers: Pick<ServiceWatch, 'lost' | 'regained'>;
	readonly operations: Pick<ServerOperations, 'degraded' | 'recovered'>;
}

const EVERY_MS = 5_000;
/** This many checks take longer than the rebalance after a worker has died. */
const CHECKS_TO_REPORT = 4;
const MAX_NAMED = 3;

const NO_WORKER =
	'no worker is running, so posts are not processed. Start a worker (`tidemark worker`); if it fails to start, read its log';

export class OwnersWatch {
	private timer: ReturnType<typeof setInterval> | undefined;
	/** Consecutive checks that found the partition without an owner. */
	private readonly checksUnowned = new Map<string, number>();

	constructor(private readonly parts: OwnersWatchParts) {}

	start(): void {
		this.timer = setInterval(() => void this.check(), EVERY_MS);
		this.timer.unref();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	async check(): Promise<void> {
		const found = await this.parts.unowned();
		if (found === null) return;
		const unowned = new Set(found);
		for (const partition of this.checksUnowned.keys())
			if (!unowned.has(partition)) this.checksUnowned.delete(partition);
		for (const partition of found)
			this.checksUnowned.set(partition, (this.checksUnowned.get(partition) ?? 0) + 1);
		this.report(found.filter((partition) => (this.checksUnowned.get(partition) ?? 0) >= CHECKS_TO_REPORT));
	}

	private report(unowned: readonly string[]): void {
		const { partitions, workers, operations } = this.parts;
		const isNoneOwned = unowned.length === partitions;
		if (isNoneOwned) workers.lost('owners', new Error(NO_WORKER));
		else workers.regained('owners');
		if (unowned.length === 0 || isNoneOwned) operations.recovered('partitions');
		else {
			const named = unowned.slice(0, MAX_NAMED).join(', ');
			const others = unowned.length > MAX_NAMED ? ` and ${unowned.length - MAX_NAMED} more` : '';
			operations.degraded(
				'partitions',
				new Error(
					`no worker owns ${named}${others}, so posts to their conversations are not processed. Check /readyz of the workers`,
				),
			);
		}
	}
}
