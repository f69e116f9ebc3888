/**
 * Splits long work into small steps: one step per turn of the event loop for all tasks that share the pace,
 * so that posts, marks and sockets are served in between.
 */
export class Pace {
	private lastStep: Promise<void> = Promise.resolve();

	/** Resolves when the next step may run. */
	nextStep(): Promise<void> {
		this.lastStep = this.lastStep.then(nextEventLoopTurn);
		return this.lastStep;
	}
}

const nextEventLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
