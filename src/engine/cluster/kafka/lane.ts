import type { MessageRecord } from '@platformatic/kafka';
import type { Batch, Identity } from './brokers.ts';

/** What is appended to one partition: entries that wait, and at most one batch that is sent until it is confirmed. */

export interface Waiting {
	readonly message: MessageRecord;
	readonly bytes: number;
	readonly done: PromiseWithResolvers<void>;
}

export class Lane {
	/** In the order of their appends. */
	queue: Waiting[] = [];
	batch: Batch | null = null;
	isUnderWay = false;
	isRejecting = false;
	private entries: readonly Waiting[] = [];
	private bytes = 0;
	/** Of the next batch, with this identity. */
	private sequence = 0;
	private identity: Identity | null = null;
	/** Kafka cannot distinguish the next batch from the one that was given up. */
	private spoilt: Identity | null = null;
	private isSent = false;
	private isLate = false;
	private patience: ReturnType<typeof setTimeout> | undefined;
	/** When its batch was first to be sent. */
	private beganAt: number | null = null;
	private failingSince: number | null = null;
	private isPaused = false;

	constructor(
		readonly topic: string,
		readonly partition: number,
	) {}

	get isReady(): boolean {
		return !this.isUnderWay && !this.isPaused && !this.isEmpty;
	}

	needsOther(identity: Identity): boolean {
		return this.spoilt === identity;
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

	/** It was sent, and nobody waits for it any longer. */
	get isGivenUp(): boolean {
		return this.batch !== null && this.isLate;
	}

	/** The batch that is to be sent again, or one of what waits, of up to so many bytes. */
	take(
		identity: Identity,
		room: number,
	): { readonly batch: Batch | null; readonly bytes: number; readonly taken: number } {
		if (this.batch) return { batch: this.bytes <= room ? this.batch : null, bytes: this.bytes, taken: 0 };
		let [bytes, count] = [0, 0];
		for (const waiting of this.queue) {
			if (bytes + waiting.bytes > room) break;
			bytes += waiting.bytes;
			count += 1;
		}
		if (count === 0) return { batch: null, bytes: 0, taken: 0 };
		this.entries = this.queue.splice(0, count);
		this.bytes = bytes;
		this.beganAt = performance.now();
		if (this.identity !== identity) [this.identity, this.sequence] = [identity, 0];
		const { topic, partition, sequence } = this;
		const messages = this.entries.map(({ message }) => message);
		this.batch = { topic, partition, messages, identity, sequence };
		this.sequence += count;
		return { batch: this.batch, bytes, taken: count };
	}

	/** It may be written from now on. By then its callers have been answered that it is not confirmed. */
	sent(late: () => Error, withinMs: number): void {
		if (this.isSent) return;
		this.isSent = true;
		this.patience = setTimeout(() => {
			this.isLate = true;
			for (const { done } of this.entries) done.reject(late());
		}, withinMs);
	}

	written(): void {
		const { entries } = this;
		this.clear();
		this.goOn();
		for (const { done } of entries) done.resolve();
	}

	/** The leader did not write it, and knows nothing of what came before: it is as if it had never been sent. */
	forgotten(): void {
		this.spoilt = this.identity;
		if (this.isLate) return;
		this.isSent = false;
		clearTimeout(this.patience);
	}

	/** Says how many entries wait again: those that were never sent. */
	failed(): number {
		this.failingSince ??= this.beganAt ?? performance.now();
		this.isUnderWay = false;
		if (this.batch === null || this.isSent) return 0;
		const { entries } = this;
		this.queue.unshift(...entries);
		this.sequence -= entries.length;
		this.clear();
		return entries.length;
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
		this.spoilt = this.identity;
		const { entries } = this;
		this.clear();
		for (const { done } of entries) done.reject(error);
	}

	goOn(): void {
		this.failingSince = null;
		this.isRejecting = false;
	}

	private clear(): void {
		clearTimeout(this.patience);
		this.batch = null;
		this.entries = [];
		this.beganAt = null;
		this.isUnderWay = false;
		this.isSent = false;
		this.isLate = false;
	}
}
