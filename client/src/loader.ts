import { codeOf } from './errors.ts';
import type { Wire } from './wire.ts';

/**
 * Loads pages of messages one after the other while events keep arriving. A page may be older than events that arrived
 * while it was loading, so these are applied again on top of it. That is safe: an event carries the whole state of a
 * message, not a difference.
 */
export class Loader {
	isLoading = false;
	error: string | null = null;
	private queue: Promise<void> = Promise.resolve();
	private received: Wire[] | null = null;
	/** Rises with `forget`: answers to earlier requests are ignored. */
	private round = 0;

	constructor(
		private readonly apply: (event: Wire) => void,
		private readonly changed: () => void,
	) {}

	/** `work` requests a page and resolves to the function that adds it; undefined if there is nothing to request. */
	run(work: () => Promise<() => void> | undefined): Promise<void> {
		const mine = this.round;
		const done = this.queue.then(async () => {
			if (mine !== this.round) return;
			const request = work();
			if (!request) return;
			this.received = [];
			this.set(true, null);
			try {
				const addPage = await request;
				if (mine !== this.round) return;
				addPage();
				for (const event of this.received) this.apply(event);
				this.end(null);
			} catch (error) {
				if (mine === this.round) this.end(codeOf(error));
				throw error;
			}
		});
		this.queue = done.catch(() => undefined);
		return done;
	}

	receive(event: Wire): void {
		this.received?.push(event);
		this.apply(event);
	}

	forget(): void {
		this.round += 1;
		// The next request must not wait for an abandoned one, which may take until its timeout.
		this.queue = Promise.resolve();
		this.end(null);
	}

	private end(error: string | null): void {
		this.received = null;
		this.set(false, error);
	}

	private set(isLoading: boolean, error: string | null): void {
		this.isLoading = isLoading;
		this.error = error;
		this.changed();
	}
}
