import { Rejection } from '../../model/errors.ts';
import type { Fact } from '../ports/facts.ts';
import type { Ledger } from '../ports/store.ts';
import { Batch } from './batch.ts';
import { advanceTo } from './ledger.ts';
import type { FactWriter } from './push-facts.ts';
import type { BoundWrite } from './write-sql.ts';

/**
 * Group commit: while one transaction is being written, further writes form the next one.
 *
 * Batches are written one after the other, in the order they were filled. If a batch fails, all queued batches fail
 * with it, because they were decided on state that includes the failed batch; later writes start with a new batch.
 *
 * Background work goes into small separate batches that alternate with the others and fail independently: a post waits
 * for one of them at most, and is not affected if it fails.
 */

/** A batch with this many statements is closed; one commit is never split. */
const STATEMENTS_PER_BATCH = 4000;

/** Small enough that other writes wait only a few milliseconds. */
export const STATEMENTS_PER_BACKGROUND_BATCH = 500;

/** Writes a batch in one transaction: all of it, or (rejecting) nothing. */
export type WriteBatch = (batch: Batch) => Promise<void>;

export class GroupCommit implements Ledger {
	private running: Batch | null = null;
	private readonly queue: Batch[] = [];
	private readonly background: Batch[] = [];
	private isBackgroundRunning = false;
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

	/** As `commit`, for writes that are not facts. */
	execute(writes: readonly BoundWrite[]): Promise<void> {
		const batch = this.openBatch(this.queue, STATEMENTS_PER_BATCH);
		for (const write of writes) batch.addWrite(write);
		return batch.done;
	}

	/** For background work that no request waits for. */
	executeInBackground(writes: readonly BoundWrite[]): Promise<void> {
		const batch = this.openBatch(this.background, STATEMENTS_PER_BACKGROUND_BATCH);
		for (const write of writes) batch.addWrite(write);
		return batch.done;
	}

	flushed(): Promise<void> {
		return (this.queue.at(-1) ?? (this.isBackgroundRunning ? null : this.running))?.done ?? Promise.resolve();
	}

	durable(): number {
		return this.durableStamp;
	}

	/** Opens no more batches, and waits until everything is written. */
	async close(): Promise<void> {
		this.closed = true;
		await Promise.allSettled([this.running, ...this.queue, ...this.background].map((batch) => batch?.done));
	}

	private openBatch(queue: Batch[], size: number): Batch {
		const last = queue.at(-1);
		if (last !== undefined && last.size < size) return last;
		const batch = new Batch(this.writeFact);
		if (this.closed) {
			batch.fail(new Rejection('service_unavailable', 'the store is closed'));
			return batch;
		}
		queue.push(batch);
		this.wake();
		return batch;
	}

	/** Starts the transaction a microtask later, so that writes of the same turn share it. */
	private wake(): void {
		if (this.woken || this.running !== null) return;
		this.woken = true;
		queueMicrotask(() => {
			this.woken = false;
			this.next();
		});
	}

	private next(): void {
		// Alternate, so that neither queue delays the other.
		const turn = this.isBackgroundRunning ? [this.queue, this.background] : [this.background, this.queue];
		const queue = turn.find(({ length }) => length > 0);
		const batch = queue?.shift();
		if (batch === undefined) return;
		this.running = batch;
		this.isBackgroundRunning = queue === this.background;
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
		this.startNext();
	}

	private startNext(): void {
		if (this.queue.length + this.background.length > 0) this.wake();
	}

	private failed(batch: Batch, error: Error): void {
		this.running = null;
		const lost = this.isBackgroundRunning ? [batch] : [batch, ...this.queue.splice(0)];
		// Clear the caches before failing the requests, so that retries do not see the failed state.
		if (!this.isBackgroundRunning) this.onFailure(error);
		this.startNext();
		const rejection = new Rejection('service_unavailable', 'the write failed', undefined, error);
		for (const one of lost) one.fail(rejection);
	}
}
