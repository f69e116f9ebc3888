import { Refusal } from '../../model/errors.ts';
import type { Fact } from '../ports/facts.ts';
import type { Ledger } from '../ports/store.ts';
import { Batch } from './batch.ts';
import { advanceTo } from './ledger.ts';
import type { FactWriter } from './push-facts.ts';
import type { BoundWrite } from './write-sql.ts';

/**
 * Group commit: while one transaction is on its way to disk, everything handed over forms the next one.
 *
 * Batches are written one after the other, in the order they were filled. When one fails, what is queued
 * behind it fails with it, because it was decided in the belief that the failed one would last; what is
 * handed over afterwards starts afresh.
 *
 * Work that nobody waits for goes aside, in small batches that take turns with the others and stand for themselves:
 * a post waits for one of them at most, and is not affected by one that fails.
 */

/** A new batch is begun when the open one has as many statements; one commit is never divided. */
const STATEMENTS_PER_BATCH = 4000;

/** Some milliseconds of somebody else's waiting. */
export const STATEMENTS_PER_BATCH_ASIDE = 500;

/** Carries a batch out in one transaction: wholly, or (rejecting) not at all. */
export type WriteBatch = (batch: Batch) => Promise<void>;

export class GroupCommit implements Ledger {
	private running: Batch | null = null;
	private readonly queue: Batch[] = [];
	private readonly aside: Batch[] = [];
	private runningAside = false;
	private woken = false;
	private closed = false;

	constructor(
		private readonly write: WriteBatch,
		private readonly onFailure: (error: Error) => void,
		private durableStamp: number,
		private readonly writeFact?: FactWriter,
	) {}

	commit(facts: readonly Fact[]): Promise<void> {
		if (facts.length === 0) return Promise.resolve();
		const batch = this.openBatch(this.queue, STATEMENTS_PER_BATCH);
		for (const fact of facts) batch.addFact(fact);
		return batch.done;
	}

	/** The same for writes that are no facts. */
	execute(writes: readonly BoundWrite[]): Promise<void> {
		const batch = this.openBatch(this.queue, STATEMENTS_PER_BATCH);
		for (const write of writes) batch.addWrite(write);
		return batch.done;
	}

	/** For work that people do not wait for. */
	executeAside(writes: readonly BoundWrite[]): Promise<void> {
		const batch = this.openBatch(this.aside, STATEMENTS_PER_BATCH_ASIDE);
		for (const write of writes) batch.addWrite(write);
		return batch.done;
	}

	settled(): Promise<void> {
		return (this.queue.at(-1) ?? (this.runningAside ? null : this.running))?.done ?? Promise.resolve();
	}

	durable(): number {
		return this.durableStamp;
	}

	/** Takes nothing more, and waits for what it has. */
	async close(): Promise<void> {
		this.closed = true;
		await Promise.allSettled([this.running, ...this.queue, ...this.aside].map((batch) => batch?.done));
	}

	private openBatch(queue: Batch[], size: number): Batch {
		const last = queue.at(-1);
		if (last !== undefined && last.size < size) return last;
		const batch = new Batch(this.writeFact);
		if (this.closed) {
			batch.fail(new Refusal('service_unavailable', 'the store is closed'));
			return batch;
		}
		queue.push(batch);
		this.wake();
		return batch;
	}

	/** A moment later, so that what is handed over in the same breath goes together. */
	private wake(): void {
		if (this.woken || this.running !== null) return;
		this.woken = true;
		queueMicrotask(() => {
			this.woken = false;
			this.next();
		});
	}

	private next(): void {
		// In turns: neither of the two holds up the other.
		const turn = this.runningAside ? [this.queue, this.aside] : [this.aside, this.queue];
		const queue = turn.find(({ length }) => length > 0);
		const batch = queue?.shift();
		if (batch === undefined) return;
		this.running = batch;
		this.runningAside = queue === this.aside;
		if (batch.newest > 0) batch.addWrite(advanceTo(batch.newest));
		this.write(batch).then(
			() => this.succeeded(batch),
			(error: Error) => this.failed(batch, error),
		);
	}

	private succeeded(batch: Batch): void {
		this.running = null;
		this.durableStamp = Math.max(this.durableStamp, batch.newest);
		batch.succeed();
		this.goOn();
	}

	private goOn(): void {
		if (this.queue.length + this.aside.length > 0) this.wake();
	}

	private failed(batch: Batch, error: Error): void {
		this.running = null;
		const lost = this.runningAside ? [batch] : [batch, ...this.queue.splice(0)];
		// First the caches in memory, then the waiting requests: they find the caches cleared already.
		if (!this.runningAside) this.onFailure(error);
		this.goOn();
		const refusal = new Refusal('service_unavailable', 'could not be written', undefined, error);
		for (const one of lost) one.fail(refusal);
	}
}
