/** Runs work with the same key one after the other, in the order of the calls. */
export class KeyedQueue {
	private readonly last = new Map<string, Promise<unknown>>();

	run<T>(key: string, work: () => Promise<T>): Promise<T> {
		const turn = (this.last.get(key) ?? Promise.resolve()).then(work, work);
		this.last.set(key, turn);
		const done = () => {
			if (this.last.get(key) === turn) this.last.delete(key);
		};
		turn.then(done, done);
		return turn;
	}
}
