/**
 * Lets a crowd that waited for the same thing pass a few at a time, in order: what each of them does next would otherwise all
 * be done in one turn of the event loop.
 */

const A_TURN = 16;

export class Turnstile {
	private waiting: (() => void)[] = [];

	/** Resolves when it is the caller's turn. */
	pass(): Promise<void> {
		return new Promise((resolve) => {
			this.waiting.push(resolve);
			if (this.waiting.length === 1) setImmediate(() => this.admit());
		});
	}

	private admit(): void {
		const admitted = this.waiting.slice(0, A_TURN);
		this.waiting = this.waiting.slice(A_TURN);
		for (const resolve of admitted) resolve();
		if (this.waiting.length > 0) setImmediate(() => this.admit());
	}
}
