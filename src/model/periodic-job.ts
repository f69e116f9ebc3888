import { isInternalError } from './errors.ts';

/** Runs work at intervals, never concurrently. A run that fails is repeated at the next interval. */
export class PeriodicJob {
	private readonly timer: ReturnType<typeof setInterval>;
	private inFlight: Promise<void> | null = null;

	constructor(everyMs: number, run: () => Promise<void>, failed: (error: unknown) => void) {
		this.timer = setInterval(() => {
			this.inFlight ??= run()
				.catch((error) => {
					// Other errors mean that a service is unavailable, which the watch of that service reports.
					if (isInternalError(error)) failed(error);
				})
				.finally(() => {
					this.inFlight = null;
				});
		}, everyMs);
		this.timer.unref?.();
	}

	/** Waits for the running work. */
	async stop(): Promise<void> {
		clearInterval(this.timer);
		await this.inFlight;
	}
}
