/** Runs work once per key at a time: calls during the work share its result. */
export class SingleFlight<Key, Result> {
	private readonly running = new Map<Key, Promise<Result>>();

	isRunning(key: Key): boolean {
		return this.running.has(key);
	}

	run(key: Key, work: () => Promise<Result>): Promise<Result> {
		const running = this.running.get(key);
		if (running) return running;
		const started = work().finally(() => this.running.delete(key));
		this.running.set(key, started);
		return started;
	}
}
