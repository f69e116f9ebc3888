import { explained, failureKindOf, OutcomeUnknown } from './errors.ts';

/**
 * Retries work that must not be lost. While PostgreSQL is unavailable, it retries after 1, 2, 4, 8, 16 s, and
 * every 16 s from then on. If another transaction conflicted, it retries after a moment, up to
 * `MAX_CONFLICTS` times. Work that PostgreSQL rejects because of its content would be rejected again, and
 * fails at once. Work that a request waits for fails after a while, if it is certain that nothing was
 * committed.
 */

export interface RetryHooks {
	/** Called with the number of attempts that failed in a row, over all work. */
	readonly onTrouble?: (failures: number, error: Error) => void;
	/** The first success after failures. */
	readonly onRecovered?: () => void;
	/** The work failed for a reason that another attempt does not change: its content, or another owner of the partition. */
	readonly onRejected?: (error: Error) => void;
}

export const BACK_OFF_MS: readonly number[] = [1000, 2000, 4000, 8000, 16_000];
const CONFLICT_MS = 20;
/** After this many conflicts in a row, another session must be holding its locks permanently. */
const MAX_CONFLICTS = 50;

export class Retry {
	private failures = 0;
	private readonly stopped = Promise.withResolvers<void>();
	private woken = Promise.withResolvers<void>();
	private stopping = false;

	constructor(
		private readonly watch: RetryHooks,
		private readonly backOffMs: readonly number[] = BACK_OFF_MS,
		private readonly giveUpAfterMs = Number.POSITIVE_INFINITY,
	) {}

	async run<T>(work: () => Promise<T>): Promise<T> {
		let conflicts = 0;
		const end = performance.now() + this.giveUpAfterMs;
		for (let attempt = 0; ; attempt += 1) {
			try {
				const result = await work();
				this.succeeded();
				return result;
			} catch (error) {
				const kind = failureKindOf(error);
				if (kind === 'rejected') this.watch.onRejected?.(explained(error));
				if (kind === 'rejected' || this.stopping) throw error;
				if (kind === 'conflict') {
					conflicts += 1;
					if (conflicts > MAX_CONFLICTS) throw error;
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

	/** No more retries: waiting work gets one last attempt now. */
	stop(): void {
		this.stopping = true;
		this.stopped.resolve();
	}

	/** Retries waiting work now, because it is likely to succeed. */
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
