import type { ServerOperations } from './operations.ts';
import type { ServiceWatch } from './service-watch.ts';

/**
 * Reports partitions of commands that no worker owns, whether or not anybody posts. Partitions are without an owner for a moment whenever
 * workers come and go: only those that stay so are reported.
 */

export interface OwnersWatchParts {
	/** All partitions there are. */
	readonly partitions: number;
	/** Those that nobody owns; null where that is not known. */
	readonly unowned: () => Promise<readonly string[] | null>;
	readonly workers: Pick<ServiceWatch, 'lost' | 'regained'>;
	readonly operations: Pick<ServerOperations, 'degraded' | 'recovered'>;
}

const EVERY_MS = 5_000;
/** Longer than it takes until the partitions of a worker that died are another's. */
const LOOKS_TO_REPORT = 4;
const NAMED = 3;

const NONE =
	'no worker is running, so posts are not processed. Start one (`tidemark worker`), or read the log of one that fails to start';

export class OwnersWatch {
	private timer: ReturnType<typeof setInterval> | undefined;
	/** Looks in a row that found the same partition without an owner. */
	private readonly looks = new Map<string, number>();

	constructor(private readonly parts: OwnersWatchParts) {}

	start(): void {
		this.timer = setInterval(() => void this.look(), EVERY_MS);
		this.timer.unref();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	async look(): Promise<void> {
		const found = await this.parts.unowned();
		if (found === null) return;
		const isFound = new Set(found);
		for (const partition of this.looks.keys()) if (!isFound.has(partition)) this.looks.delete(partition);
		for (const partition of found) this.looks.set(partition, (this.looks.get(partition) ?? 0) + 1);
		this.report(found.filter((partition) => (this.looks.get(partition) ?? 0) >= LOOKS_TO_REPORT));
	}

	private report(unowned: readonly string[]): void {
		const { partitions, workers, operations } = this.parts;
		const isNone = unowned.length === partitions;
		if (isNone) workers.lost('owners', new Error(NONE));
		else workers.regained('owners');
		if (unowned.length === 0 || isNone) operations.recovered('partitions');
		else {
			const named = unowned.slice(0, NAMED).join(', ');
			const others = unowned.length > NAMED ? ` and ${unowned.length - NAMED} more` : '';
			operations.degraded(
				'partitions',
				new Error(
					`no worker owns ${named}${others}, so posts to their conversations are not processed. Check /readyz of the workers`,
				),
			);
		}
	}
}
