/** Runs work that nobody awaits, and swallows its errors. `done` waits until the running work has ended. */
export class Background {
	private readonly inFlight = new Set<Promise<unknown>>();

	readonly run = (work: Promise<unknown>): void => {
		const done: Promise<unknown> = work
			.catch(() => undefined)
			.finally(() => {
				this.inFlight.delete(done);
			});
		this.inFlight.add(done);
	};

	get isIdle(): boolean {
		return this.inFlight.size === 0;
	}

	async done(): Promise<void> {
		await Promise.all(this.inFlight);
	}
}
