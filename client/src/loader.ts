import { codeOf } from './errors.ts';
import type { Wire } from './wire.ts';

/**
 * Loads pages of messages one after the other while events go on coming. A page may be older than events that came before
 * its answer: these are applied once more on top of it. All of them can be: they say how a message is, not how it changed.
 */
export class Loader {
	isLoading = false;
	error: string | null = null;
	private queue: Promise<void> = Promise.resolve();
	private during: Wire[] | null = null;
	/** What was asked before everything was forgotten is not wanted any more. */
	private epoch = 0;

	constructor(
		private readonly apply: (event: Wire) => void,
		private readonly changed: () => void,
	) {}

	/** `work` asks, and answers what places the page; nothing when there was nothing to ask. */
	run(work: () => Promise<() => void> | undefined): Promise<void> {
		const mine = this.epoch;
		const done = this.queue.then(async () => {
			if (mine !== this.epoch) return;
			const asking = work();
			if (!asking) return;
			this.during = [];
			this.set(true, null);
			try {
				const place = await asking;
				if (mine !== this.epoch) return;
				place();
				for (const event of this.during) this.apply(event);
				this.end(null);
			} catch (error) {
				if (mine === this.epoch) this.end(codeOf(error));
				throw error;
			}
		});
		this.queue = done.catch(() => undefined);
		return done;
	}

	receive(event: Wire): void {
		this.during?.push(event);
		this.apply(event);
	}

	forget(): void {
		this.epoch += 1;
		this.end(null);
	}

	private end(error: string | null): void {
		this.during = null;
		this.set(false, error);
	}

	private set(isLoading: boolean, error: string | null): void {
		this.isLoading = isLoading;
		this.error = error;
		this.changed();
	}
}
