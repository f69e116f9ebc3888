/**
 * Long work in small steps, one step per turn of the event loop however many of them run side by side: in between, posts,
 * marks and sockets have their turns.
 */
export class Pace {
	private newest: Promise<void> = Promise.resolve();

	/** Resolves when the next step may run. */
	turn(): Promise<void> {
		this.newest = this.newest.then(nextTurn);
		return this.newest;
	}
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
