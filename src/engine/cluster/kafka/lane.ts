import type { MessageRecord } from '@platformatic/kafka';
import type { ProducerIdentity, RecordBatch } from './brokers.ts';

/** Appends to one partition: a queue, and at most one batch, which is sent again until Kafka confirms it or its callers get an error. */

export interface PendingAppend {
	readonly record: MessageRecord;
	readonly bytes: number;
	readonly done: PromiseWithResolvers<void>;
}

export class Lane {
	/** In the order of the appends. */
	queue: PendingAppend[] = [];
	batch: RecordBatch | null = null;
	isInFlight = false;
	isRejecting = false;
	private appends: readonly PendingAppend[] = [];
	private bytes = 0;
	/** Sequence number of the next batch under `identity`. */
	private sequence = 0;
	private identity: ProducerIdentity | null = null;
	/** An identity that must not be reused: Kafka could confuse the next batch with an abandoned one. */
	private unusableIdentity: ProducerIdentity | null = null;
	private isSent = false;
	private isLate = false;
	private lateTimer: ReturnType<typeof setTimeout> | undefined;
	/** When the batch was taken from the queue. */
	private takenAt: number | null = null;
	private failingSince: number | null = null;
	private isPaused = false;

	constructor(
		readonly topic: string,
		readonly partition: number,
	) {}

	get isReady(): boolean {
		return !this.isInFlight && !this.isPaused && !this.isEmpty;
	}

	needsNewIdentity(identity: ProducerIdentity): boolean {
		return this.unusableIdentity === identity;
	}

	get isEmpty(): boolean {
		return this.batch === null && this.queue.length === 0;
	}

	get isFailing(): boolean {
		return this.failingSince !== null;
	}

	get failingMs(): number {
		return this.failingSince === null ? 0 : performance.now() - this.failingSince;
	}

	/** The batch was not confirmed in time: its callers have already got their error. */
	get isOverdue(): boolean {
		return this.batch !== null && this.isLate;
	}

	/** The batch to send: the unconfirmed one again, or a new one of up to `room` bytes. */
	take(
		identity: ProducerIdentity,
		room: number,
	): { readonly batch: RecordBatch | null; readonly bytes: number; readonly taken: number } {
		if (this.batch) return { batch: this.bytes <= room ? this.batch : null, bytes: this.bytes, taken: 0 };
		let [bytes, count] = [0, 0];
		for (const waiting of this.queue) {
			if (bytes + waiting.bytes > room) break;
			bytes += waiting.bytes;
			count += 1;
		}
		if (count === 0) return { batch: null, bytes: 0, taken: 0 };
		this.appends = this.queue.splice(0, count);
		this.bytes = bytes;
		this.takenAt = performance.now();
		if (this.identity !== identity) [this.identity, this.sequence] = [identity, 0];
		const { topic, partition, sequence } = this;
		const records = this.appends.map(({ record }) => record);
		this.batch = { topic, partition, records, identity, sequence };
		this.sequence += count;
		return { batch: this.batch, bytes, taken: count };
	}

	/** The batch may be written from now on. If it is not confirmed in time, its callers get this error. */
	sent(late: () => Error, withinMs: number): void {
		if (this.isSent) return;
		this.isSent = true;
		this.lateTimer = setTimeout(() => {
			this.isLate = true;
			for (const { done } of this.appends) done.reject(late());
		}, withinMs);
	}

	written(): void {
		const { appends } = this;
		this.clear();
		this.recovered();
		for (const { done } of appends) done.resolve();
	}

	/** The leader did not write the batch and does not know the producer: treat it as never sent. */
	producerUnknown(): void {
		this.unusableIdentity = this.identity;
		if (this.isLate) return;
		this.isSent = false;
		clearTimeout(this.lateTimer);
	}

	/** Returns how many appends are back in the queue: those that were never sent. */
	failed(): number {
		this.failingSince ??= this.takenAt ?? performance.now();
		this.isInFlight = false;
		if (this.batch === null || this.isSent) return 0;
		const { appends } = this;
		this.queue.unshift(...appends);
		this.sequence -= appends.length;
		this.clear();
		return appends.length;
	}

	pause(ms: number, then: () => void): void {
		if (this.isPaused) return;
		this.isPaused = true;
		setTimeout(() => {
			this.isPaused = false;
			then();
		}, ms);
	}

	giveUp(error: Error): void {
		this.unusableIdentity = this.identity;
		const { appends } = this;
		this.clear();
		for (const { done } of appends) done.reject(error);
	}

	recovered(): void {
		this.failingSince = null;
		this.isRejecting = false;
	}

	private clear(): void {
		clearTimeout(this.lateTimer);
		this.batch = null;
		this.appends = [];
		this.takenAt = null;
		this.isInFlight = false;
		this.isSent = false;
		this.isLate = false;
	}
}
