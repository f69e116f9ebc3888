import { Refusal } from '../../model/errors.ts';
import { leading } from '../../model/leading.ts';
import type { Fact, ReadFact } from '../ports/facts.ts';
import type { MarkLog } from '../ports/log.ts';
import type { Ledger } from '../ports/store.ts';

/**
 * Where a gateway's marks become durable before they are acknowledged: in the log, from which a worker writes them to the
 * store; or, while the log does not answer, in the store directly. A mark is a merge, so both may write it, in any order.
 *
 *     log ──an append failed or took 2 s──> store ──an append succeeded──> log
 *
 * Batches are kept one after the other, so waiting for the newest mark waits for all. A mark that neither has accepted in
 * time is rejected. It is in the read state all the same, so it stays in the queue until one of them accepts it.
 */

const LOG_WITHIN_MS = 2_000;
/** From the commit on: what is left for the store once the log has used up its time. */
const REJECTED_AFTER_MS = 5_000;
const MOST_WAITING = 100_000;
const RETRY_MS = 250;
/** Smaller than the log's own queue, so that a long backlog drains piece by piece. */
const MOST_AT_ONCE = 2_000;

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
	/** What neither the log nor the store has. */
	private waiting: Waiting[] = [];
	private facts = 0;
	private newest: Promise<void> = Promise.resolve();
	private mode: 'log' | 'store' = 'log';
	/** Neither accepted anything for so long that callers are no longer kept waiting. */
	private isRejecting = false;
	private running = false;
	private closed = false;
	private patience: ReturnType<typeof setTimeout> | undefined;

	constructor(private readonly parts: MarkLedgerParts) {}

	commit(facts: readonly Fact[]): Promise<void> {
		if (this.closed || this.facts > MOST_WAITING) return Promise.reject(rejected());
		const done = Promise.withResolvers<void>();
		this.waiting.push({ facts: facts as readonly ReadFact[], since: this.parts.nowMs(), done });
		this.facts += facts.length;
		this.newest = done.promise.catch(() => undefined);
		if (this.isRejecting) done.reject(rejected());
		else this.patience ??= setTimeout(() => this.rejectLate(), REJECTED_AFTER_MS);
		if (!this.running) void this.run();
		return done.promise;
	}

	/** Resolves when everything handed over so far is durable or was rejected. */
	settled(): Promise<void> {
		return this.newest;
	}

	/** Stamps of several processes have no order in which they become durable. */
	durable(): number {
		return 0;
	}

	/** Waits for what is under way, but not for services that are down. */
	async close(withinMs: number): Promise<void> {
		const end = this.parts.nowMs() + withinMs;
		while (this.running && this.parts.nowMs() < end) await Bun.sleep(10);
		this.closed = true;
		clearTimeout(this.patience);
	}

	private async run(): Promise<void> {
		this.running = true;
		while (this.waiting.length > 0 && !this.closed) {
			const some = leading(this.waiting, ({ facts }) => facts.length, MOST_AT_ONCE);
			try {
				await this.keep(some.flatMap(({ facts }) => facts));
			} catch {
				await Bun.sleep(RETRY_MS);
				continue;
			}
			this.isRejecting = false;
			this.waiting.splice(0, some.length);
			for (const { facts, done } of some) {
				this.facts -= facts.length;
				done.resolve();
			}
		}
		this.running = false;
	}

	/** Resolves when the log or the store has these. */
	private async keep(facts: readonly ReadFact[]): Promise<void> {
		const logged = this.parts.log.append(facts).then(() => this.onLogged());
		if (this.mode === 'log') {
			const late = Promise.withResolvers<never>();
			const timer = setTimeout(
				() => late.reject(new Error(`the log has not accepted a mark for ${LOG_WITHIN_MS} ms`)),
				LOG_WITHIN_MS,
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

	/** Finds out when the log accepts marks again, also while nobody marks: appending these twice changes nothing. */
	private async probe(facts: readonly ReadFact[]): Promise<void> {
		while (this.mode === 'store' && !this.closed) {
			await Bun.sleep(RETRY_MS);
			await this.parts.log.append(facts).then(
				() => this.onLogged(),
				() => undefined,
			);
		}
	}

	/** Independent of the attempts, which may hang for as long as the services do. */
	private rejectLate(): void {
		this.patience = undefined;
		const [oldest] = this.waiting;
		if (!oldest) return;
		const left = oldest.since + REJECTED_AFTER_MS - this.parts.nowMs();
		if (left > 0) {
			this.patience = setTimeout(() => this.rejectLate(), left);
			return;
		}
		this.isRejecting = true;
		for (const { done } of this.waiting) done.reject(rejected());
	}
}

const rejected = (): Refusal =>
	new Refusal('service_unavailable', 'neither the log nor the database accepted the mark; mark again');
