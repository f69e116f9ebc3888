/**
 * One after the other for each key, in the order of the calls. Whoever takes a turn takes its stamp in the same
 * turn of the event loop: so within a process stamps, and what they are true at, have one order.
 */
export class Turns {
	private readonly last = new Map<string, Promise<unknown>>();

	take<T>(key: string, work: () => Promise<T>): Promise<T> {
		const before = this.last.get(key) ?? Promise.resolve();
		const turn = before.then(work, work);
		this.last.set(key, turn);
		const done = () => {
			if (this.last.get(key) === turn) this.last.delete(key);
		};
		turn.then(done, done);
		return turn;
	}

	/** Resolves when every turn taken so far is over. */
	async settled(): Promise<void> {
		await Promise.allSettled(this.last.values());
	}
}
