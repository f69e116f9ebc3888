import { Rejection } from '../model/errors.ts';

/** Runs work at intervals, never concurrently. A run that fails is repeated at the next interval. */
export class PeriodicJob {
	private readonly timer: ReturnType<typeof setInterval>;
	private inFlight: Promise<void> | null = null;

	constructor(everyMs: number, run: () => Promise<void>, failed: (error: unknown) => void) {
		this.timer = setInterval(() => {
			this.inFlight ??= run()
				.catch((error) => {
					// A Rejection means that a service is unavailable, which the watch of that service reports.
					if (!(error instanceof Rejection)) failed(error);
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
