import { Refusal } from '../../model/errors.ts';
import { leading } from '../../model/leading.ts';
import type { Fact, ReadFact } from '../ports/facts.ts';
import type { MarkLog } from '../ports/log.ts';
import type { Ledger } from '../ports/store.ts';

/**
 * Where a gateway's marks become durable: in the log, from which a worker writes them down. One append is under way at
 * a time, and what comes meanwhile goes with the next, in order.
 *
 * While the log is away marks go on: they are in the read state, wait here to be appended, and are acknowledged after
 * a moment. When too many wait, no more are taken.
 */

const ACKNOWLEDGED_AFTER_MS = 2_000;
const MOST_WAITING = 100_000;
const RETRY_MS = 250;
/** In one append: less than the log takes at once, so that a long queue drains piece by piece. */
const MOST_AT_ONCE = 2_000;

interface Waiting {
	readonly facts: readonly ReadFact[];
	readonly since: number;
	readonly done: PromiseWithResolvers<void>;
}

export class MarkLedger implements Ledger {
	private waiting: Waiting[] = [];
	private facts = 0;
	private running = false;
	private closed = false;

	constructor(
		private readonly log: Pick<MarkLog, 'append'>,
		private readonly nowMs: () => number,
		/** The log came to be away, or is back (null). */
		private readonly trouble: (error: Error | null) => void,
	) {}

	commit(facts: readonly Fact[]): Promise<void> {
		if (this.closed || this.facts > MOST_WAITING)
			return Promise.reject(new Refusal('service_unavailable', 'the log cannot take marks now'));
		const done = Promise.withResolvers<void>();
		this.waiting.push({ facts: facts as readonly ReadFact[], since: this.nowMs(), done });
		this.facts += facts.length;
		if (!this.running) void this.run();
		return done.promise;
	}

	async settled(): Promise<void> {
		await Promise.allSettled(this.waiting.map(({ done }) => done.promise));
	}

	/** Stamps of several processes have no order in which they become durable. */
	durable(): number {
		return 0;
	}

	/** Waits for what is on its way, but not for a log that is away. */
	async close(withinMs: number): Promise<void> {
		const patience = this.nowMs() + withinMs;
		while (this.running && this.nowMs() < patience) await Bun.sleep(10);
		this.closed = true;
	}

	private async run(): Promise<void> {
		this.running = true;
		let failing = false;
		while (this.waiting.length > 0 && !this.closed) {
			const some = leading(this.waiting, ({ facts }) => facts.length, MOST_AT_ONCE);
			try {
				await this.log.append(some.flatMap(({ facts }) => facts));
			} catch (error) {
				if (!failing) this.trouble(error as Error);
				failing = true;
				this.acknowledgeOld();
				// What was appended of it is appended again: a mark that comes twice changes nothing.
				await Bun.sleep(RETRY_MS);
				continue;
			}
			if (failing) this.trouble(null);
			failing = false;
			this.waiting.splice(0, some.length);
			for (const { facts, done } of some) {
				this.facts -= facts.length;
				done.resolve();
			}
		}
		this.running = false;
	}

	private acknowledgeOld(): void {
		const old = this.nowMs() - ACKNOWLEDGED_AFTER_MS;
		for (const { since, done } of this.waiting) if (since < old) done.resolve();
	}
}
