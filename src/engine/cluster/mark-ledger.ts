import { Refusal } from '../../model/errors.ts';
import { leading } from '../../model/leading.ts';
import type { Fact, ReadFact } from '../ports/facts.ts';
import type { MarkLog } from '../ports/log.ts';
import type { Ledger } from '../ports/store.ts';

/**
 * Where a gateway's marks become durable: in the log, from which a worker writes them down. One append is under way at
 * a time, and what comes meanwhile goes with the next, in order.
 *
 *     keeping up ──a mark has waited for 2 s──> away ──an append came through──> keeping up
 *
 * Keeping up, a mark is acknowledged when the log has it. Away, marks go on: all are acknowledged as they come, also while
 * an append is under way that gets no answer. They are in the read state, and wait here to be appended. When too many wait,
 * no more are taken. Marks are acknowledged in the order in which they were handed over, so whoever waits for the newest
 * has waited for all.
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
	/** What the log does not have yet. */
	private waiting: Waiting[] = [];
	/** So many of them, from the first on, are acknowledged. */
	private acknowledged = 0;
	private facts = 0;
	private newest: Promise<void> = Promise.resolve();
	private isAway = false;
	private isTroubled = false;
	private running = false;
	private closed = false;
	private watch: ReturnType<typeof setTimeout> | undefined;

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
		this.newest = done.promise;
		if (this.isAway) this.acknowledgeAll();
		else this.watch ??= setTimeout(() => this.look(), ACKNOWLEDGED_AFTER_MS);
		if (!this.running) void this.run();
		return done.promise;
	}

	settled(): Promise<void> {
		return this.newest;
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
		clearTimeout(this.watch);
	}

	private async run(): Promise<void> {
		this.running = true;
		while (this.waiting.length > 0 && !this.closed) {
			const some = leading(this.waiting, ({ facts }) => facts.length, MOST_AT_ONCE);
			try {
				await this.log.append(some.flatMap(({ facts }) => facts));
			} catch (error) {
				this.tell(error as Error);
				// What was appended of it is appended again: a mark that comes twice changes nothing.
				await Bun.sleep(RETRY_MS);
				continue;
			}
			this.isAway = false;
			this.tell(null);
			this.waiting.splice(0, some.length);
			this.acknowledged = Math.max(0, this.acknowledged - some.length);
			for (const { facts, done } of some) {
				this.facts -= facts.length;
				done.resolve();
			}
		}
		this.running = false;
	}

	/** Independent of the append, which may hang for as long as the log does. */
	private look(): void {
		this.watch = undefined;
		const oldest = this.waiting[this.acknowledged];
		if (!oldest) return;
		const left = oldest.since + ACKNOWLEDGED_AFTER_MS - this.nowMs();
		if (left > 0) {
			this.watch = setTimeout(() => this.look(), left);
			return;
		}
		this.isAway = true;
		this.tell(new Error(`the log has not taken a mark for ${ACKNOWLEDGED_AFTER_MS} ms`));
		this.acknowledgeAll();
	}

	private acknowledgeAll(): void {
		for (; this.acknowledged < this.waiting.length; this.acknowledged += 1)
			this.waiting[this.acknowledged]?.done.resolve();
	}

	/** Once for each time that the log is away. */
	private tell(error: Error | null): void {
		const isTroubled = error !== null;
		if (isTroubled !== this.isTroubled) this.trouble(error);
		this.isTroubled = isTroubled;
	}
}
