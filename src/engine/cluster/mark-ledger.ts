import { Rejection } from '../../model/errors.ts';
import type { Fact, ReadFact } from '../ports/facts.ts';
import type { MarkLog } from '../ports/log.ts';
import type { Ledger } from '../ports/store.ts';

/**
 * Makes a gateway's marks durable before they are acknowledged: in the log, from which a worker persists them; or, while the
 * log does not answer, in the store directly. Marks commute, so both may write the same one, in any order.
 *
 *     log ──an append failed or took 2 s──> store ──an append succeeded──> log
 *
 * Batches are written one after the other, so waiting for the newest mark waits for all. A mark that neither the log nor the
 * store has accepted in time is rejected. The read state already has it, so it stays in the queue until one of them accepts it.
 */

const LOG_TIMEOUT_MS = 2_000;
/** Counted from the call of `commit`. Longer than `LOG_TIMEOUT_MS`, so that time is left to try the store. */
const REJECTED_AFTER_MS = 5_000;
const MAX_WAITING_FACTS = 100_000;
const RETRY_MS = 250;
/** Smaller than the log's own queue, so that a long backlog drains in parts. */
const MAX_FACTS_PER_BATCH = 2_000;

export interface MarkLedgerParts {
	readonly log: Pick<MarkLog, 'append'>;
	readonly store: Pick<Ledger, 'commit'>;
	readonly nowMs: () => number;
	/** The log stopped accepting marks, or (null) accepts them again. */
	readonly onLog: (error: Error | null) => void;
}

interface Waiting {
	readonly facts: readonly ReadFact[];
	readonly since: number;
	readonly done: PromiseWithResolvers<void>;
}

export class MarkLedger implements Ledger {
	/** Marks that neither the log nor the store has. */
	private waiting: Waiting[] = [];
	private waitingFacts = 0;
	private newest: Promise<void> = Promise.resolve();
	private mode: 'log' | 'store' = 'log';
	/** Neither the log nor the store has accepted a mark for so long that new marks are rejected at once. */
	private isRejecting = false;
	private running = false;
	private closed = false;
	private rejectTimer: ReturnType<typeof setTimeout> | undefined;

	constructor(private readonly parts: MarkLedgerParts) {}

	commit(facts: readonly Fact[]): Promise<void> {
		if (this.closed || this.waitingFacts > MAX_WAITING_FACTS) return Promise.reject(rejected());
		const done = Promise.withResolvers<void>();
		this.waiting.push({ facts: facts as readonly ReadFact[], since: this.parts.nowMs(), done });
		this.waitingFacts += facts.length;
		this.newest = done.promise.catch(() => undefined);
		if (this.isRejecting) done.reject(rejected());
		else this.rejectTimer ??= setTimeout(() => this.rejectLate(), REJECTED_AFTER_MS);
		if (!this.running) void this.run();
		return done.promise;
	}

	/** Resolves when everything that was passed to `commit` so far is durable or was rejected. */
	flushed(): Promise<void> {
		return this.newest;
	}

	/** Unknown: stamps of several processes do not become durable in order. */
	durable(): number {
		return 0;
	}

	/** Waits for marks in flight, but not for services that are down. */
	async close(withinMs: number): Promise<void> {
		const end = this.parts.nowMs() + withinMs;
		while (this.running && this.parts.nowMs() < end) await Bun.sleep(10);
		this.closed = true;
		clearTimeout(this.rejectTimer);
	}

	private async run(): Promise<void> {
		this.running = true;
		while (this.waiting.length > 0 && !this.closed) {
			const some = firstBatch(this.waiting);
			try {
				await this.makeDurable(some.flatMap(({ facts }) => facts));
			} catch {
				await Bun.sleep(RETRY_MS);
				continue;
			}
			this.isRejecting = false;
			this.waiting.splice(0, some.length);
			for (const { facts, done } of some) {
				this.waitingFacts -= facts.length;
				done.resolve();
			}
		}
		this.running = false;
	}

	/** Resolves when the log or the store has these facts. */
	private async makeDurable(facts: readonly ReadFact[]): Promise<void> {
		const logged = this.parts.log.append(facts).then(() => this.onLogged());
		if (this.mode === 'log') {
			const late = Promise.withResolvers<never>();
			const timer = setTimeout(
				() => late.reject(new Error(`the log has not accepted a mark for ${LOG_TIMEOUT_MS} ms`)),
				LOG_TIMEOUT_MS,
			);
			try {
				await Promise.race([logged, late.promise]);
				return;
			} catch (error) {
				this.logFailed(error as Error, facts);
			} finally {
				clearTimeout(timer);
				late.promise.catch(() => undefined);
			}
		}
		await Promise.any([logged, this.parts.store.commit(facts)]);
	}

	private onLogged(): void {
		if (this.mode === 'log') return;
		this.mode = 'log';
		this.parts.onLog(null);
	}

	private logFailed(error: Error, facts: readonly ReadFact[]): void {
		if (this.mode === 'store') return;
		this.mode = 'store';
		this.parts.onLog(error);
		void this.probe(facts);
	}

	/** Checks whether the log accepts marks again, even without new marks: appending these twice changes nothing. */
	private async probe(facts: readonly ReadFact[]): Promise<void> {
		while (this.mode === 'store' && !this.closed) {
			await Bun.sleep(RETRY_MS);
			await this.parts.log.append(facts).then(
				() => this.onLogged(),
				() => undefined,
			);
		}
	}

	/** Runs independently of the attempts, which may hang. */
	private rejectLate(): void {
		this.rejectTimer = undefined;
		const [oldest] = this.waiting;
		if (!oldest) return;
		const left = oldest.since + REJECTED_AFTER_MS - this.parts.nowMs();
		if (left > 0) {
			this.rejectTimer = setTimeout(() => this.rejectLate(), left);
			return;
		}
		this.isRejecting = true;
		for (const { done } of this.waiting) done.reject(rejected());
	}
}

const rejected = (): Rejection =>
	new Rejection('service_unavailable', 'neither the log nor the database accepted the mark; mark again');

/** The first marks that together have at most `MAX_FACTS_PER_BATCH` facts; at least one mark. */
function firstBatch(waiting: readonly Waiting[]): readonly Waiting[] {
	let facts = 0;
	const end = waiting.findIndex((one) => {
		facts += one.facts.length;
		return facts > MAX_FACTS_PER_BATCH;
	});
	return waiting.slice(0, end < 0 ? undefined : Math.max(1, end));
}
