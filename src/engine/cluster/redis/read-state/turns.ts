/**
 * Turns for each key, in the order of the calls: `take` is alone in its turn, `share` only waits for what was taken before it.
 * Whoever takes a turn takes its stamp in the same turn of the event loop: so within a process stamps, and what they are true
 * at, have one order.
 */
export class Turns {
	private readonly last = new Map<string, Promise<unknown>>();
	/** Begun since the last one was taken, and under way. */
	private readonly shared = new Map<string, Set<Promise<unknown>>>();

	/** Begins when all before it are over. */
	take<T>(key: string, work: () => Promise<T>): Promise<T> {
		const last = this.last.get(key) ?? Promise.resolve();
		const sharing = this.shared.get(key);
		this.shared.delete(key);
		const before = sharing ? Promise.allSettled([last, ...sharing]) : last;
		const turn = before.then(work, work);
		this.last.set(key, turn);
		const done = () => {
			if (this.last.get(key) === turn) this.last.delete(key);
		};
		turn.then(done, done);
		return turn;
	}

	/** Begins when those taken before it are over; others that share do not wait for it. */
	share<T>(key: string, work: () => Promise<T>): Promise<T> {
		const last = this.last.get(key) ?? Promise.resolve();
		const turn = last.then(work, work);
		const sharing = this.shared.get(key) ?? new Set();
		this.shared.set(key, sharing.add(turn));
		const done = () => {
			sharing.delete(turn);
			if (sharing.size === 0 && this.shared.get(key) === sharing) this.shared.delete(key);
		};
		turn.then(done, done);
		return turn;
	}
}
