import { explained, failureKindOf, OutcomeUnknown } from './errors.ts';

/**
 * Work that must not be lost is tried until it succeeds: after 1, 2, 4, 8, 16 s while PostgreSQL is unavailable, and
 * every 16 s from then on; after a moment when another transaction was in the way. What PostgreSQL refuses for its content
 * would be refused again: that fails at once. Work that somebody waits for is given up after a while, where it is certain that
 * nothing of it took place.
 */

export interface Watch {
	/** How many attempts in a row have failed, over all work. */
	readonly onTrouble?: (failures: number, error: Error) => void;
	/** The first success after that. */
	readonly onRecovered?: () => void;
	/** What was to be done was refused for what it is. */
	readonly onRefused?: (error: Error) => void;
}

export const BACK_OFF_MS: readonly number[] = [1000, 2000, 4000, 8000, 16_000];
const CONFLICT_MS = 20;
/** With that many conflicts in a row, something holds its locks for good. */
const CONFLICTS_AT_MOST = 50;

export class Retry {
	private failures = 0;
	private readonly stopped = Promise.withResolvers<void>();
	private woken = Promise.withResolvers<void>();
	private stopping = false;

	constructor(
		private readonly watch: Watch,
		private readonly backOffMs: readonly number[] = BACK_OFF_MS,
		private readonly giveUpAfterMs = Number.POSITIVE_INFINITY,
	) {}

	async carryOut<T>(work: () => Promise<T>): Promise<T> {
		let conflicts = 0;
		const end = performance.now() + this.giveUpAfterMs;
		for (let attempt = 0; ; attempt += 1) {
			try {
				const result = await work();
				this.succeeded();
				return result;
			} catch (error) {
				const kind = failureKindOf(error);
				if (kind === 'refused') this.watch.onRefused?.(explained(error));
				if (kind === 'refused' || this.stopping) throw error;
				if (kind === 'conflict') {
					conflicts += 1;
					if (conflicts > CONFLICTS_AT_MOST) throw error;
					await this.wait(CONFLICT_MS * Math.min(conflicts, 10));
				} else {
					this.failures += 1;
					this.watch.onTrouble?.(this.failures, explained(error));
					const left = error instanceof OutcomeUnknown ? Number.POSITIVE_INFINITY : end - performance.now();
					if (left <= 0) throw explained(error);
					const step = Math.min(attempt, this.backOffMs.length - 1);
					await this.wait(Math.min(this.backOffMs[step] as number, left));
				}
			}
		}
	}

	/** No more retries from now on; waiting work is tried once more now. */
	stop(): void {
		this.stopping = true;
		this.stopped.resolve();
	}

	/** Whatever waits tries again now: there is reason to believe that it succeeds. */
	wake(): void {
		this.woken.resolve();
		this.woken = Promise.withResolvers();
	}

	private succeeded(): void {
		if (this.failures === 0) return;
		this.failures = 0;
		this.watch.onRecovered?.();
	}

	private async wait(ms: number): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const elapsed = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, ms);
		});
		await Promise.race([elapsed, this.stopped.promise, this.woken.promise]);
		clearTimeout(timer);
	}
}
