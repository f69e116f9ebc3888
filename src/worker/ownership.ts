import { type Bus, type BusMessage, EVERY_GATEWAY, type Topic } from '../engine/ports/bus.ts';
import { Released } from '../engine/ports/log.ts';
import type { PublicationRecord } from '../engine/ports/publication-record.ts';

/**
 * Publishes for a partition that this process owns. Events carry the generation of the owner, and the owner records how far it has
 * published.
 *
 *     unclaimed   publishes nothing yet
 *     owner       publishes; before each transaction of the store, it records that all events up to the
 *                 transaction's end are published
 *     behind      the read state is lost: effects are persisted before they are published, so nothing is recorded until
 *                 `caughtUp`
 *     overtaken   a later owner has claimed the partition or published: Redis drops the events of this owner. Final
 *
 * If a worker dies while it is behind, the store is ahead of the record, and the next owner announces the gap.
 */

export interface OwnershipParts {
	readonly partition: string;
	readonly publications: PublicationRecord;
	readonly bus: Bus;
	/** Another worker has claimed the partition or publishes for it: restart the partition, if this process still owns it. */
	readonly onOvertaken: () => void;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

const RETRY_MS = 250;
const RECORD_TIMEOUT_MS = 250;
/** Releasing the partition waits at most this long for a claim, because Redis may not answer. */
const CLAIM_TIMEOUT_MS = 1000;
/** It waits at most this long until Redis has recorded the last published offset, because Redis may be unavailable. */
const LAST_RECORD_TIMEOUT_MS = 3000;

export class Ownership {
	private generation: number | null = null;
	private isBehind = false;
	private isOvertaken = false;
	private ended = false;
	private claiming: Promise<void> | null = null;
	/** The newest offset that is being persisted. */
	private offset = 0;
	private newest: Promise<boolean> | undefined;
	/** Resolves when all publications so far are confirmed. */
	private confirmed: Promise<void> = Promise.resolve();
	private recording: Promise<void> = Promise.resolve();
	/** How many times this owner has started to record its progress. */
	private recordsStarted = 0;

	constructor(private readonly parts: OwnershipParts) {}

	/** Resolves when this process may publish. `stored`: the store has all effects below this offset. */
	claim(stored: number): Promise<void> {
		this.claiming ??= this.tryToClaim(stored);
		return this.claiming;
	}

	publish(topic: Topic, message: BusMessage): void {
		const { partition, bus } = this.parts;
		const publisher = { partition, generation: this.generation ?? 0 };
		const published = bus.publishAs(publisher, topic, message);
		// Events that are sent in one batch share a promise.
		if (published === this.newest) return;
		this.newest = published;
		const earlier = this.confirmed;
		this.confirmed = published.then((isPublished) => {
			if (!isPublished) this.overtaken();
			return earlier;
		});
	}

	/**
	 * Call it before persisting effects up to this offset; unless this owner is behind, they are already published. Resolves when that is
	 * recorded, or after `RECORD_TIMEOUT_MS`: persisting must not depend on Redis.
	 */
	async beforePersist(offset: number): Promise<void> {
		this.offset = Math.max(this.offset, offset);
		if (this.isBehind) return;
		this.recordProgress();
		await Promise.race([this.recording, this.parts.sleep(RECORD_TIMEOUT_MS)]);
	}

	fallBehind(): void {
		this.isBehind = true;
	}

	/** All effects are published. */
	caughtUp(): void {
		if (!this.isBehind) return;
		this.isBehind = false;
		this.recordProgress();
	}

	/** Resolves when progress is recorded, as far as possible, and no claim is in flight. */
	async idle(): Promise<void> {
		const claimed = this.claiming?.catch(() => undefined);
		await Promise.race([claimed, this.parts.sleep(CLAIM_TIMEOUT_MS)]);
		await Promise.race([this.recording, this.parts.sleep(LAST_RECORD_TIMEOUT_MS)]);
	}

	/** The partition is being reassigned: do not claim it any more. What was published is still recorded, but a failed record is not retried. */
	end(): void {
		this.ended = true;
	}

	private recordProgress(): void {
		const { generation, offset } = this;
		if (generation === null || offset === 0) return;
		this.recordsStarted += 1;
		const number = this.recordsStarted;
		this.recording = Promise.all([this.recording, this.confirmed]).then(() =>
			this.tryToRecord(generation, offset, number),
		);
	}

	/**
	 * Retries until it succeeds, a later record covers it, or the partition is being reassigned: without the record, the next owner would announce
	 * the last events as missed although they were published.
	 */
	private async tryToRecord(generation: number, offset: number, number: number): Promise<void> {
		const { partition, publications, sleep, report } = this.parts;
		for (let attempt = 0; !this.isOvertaken && !this.isBehind; attempt += 1) {
			try {
				if (!(await publications.published(partition, generation, offset))) this.overtaken();
				return;
			} catch (error) {
				if (attempt === 0) report(error, `recording how far ${partition} is published`);
				if (this.ended || this.recordsStarted > number) return;
				await sleep(RETRY_MS);
			}
		}
	}

	private overtaken(): void {
		if (this.isOvertaken || this.ended) return;
		this.isOvertaken = true;
		this.parts.onOvertaken();
	}

	private async tryToClaim(stored: number): Promise<void> {
		const { partition, publications, sleep, report } = this.parts;
		for (let attempt = 0; !this.ended; attempt += 1) {
			try {
				const { generation, published, reloaded } = await publications.claim(partition, stored);
				const isMissing = stored > (published ?? 0);
				if (isMissing) await publications.invalidatePositions(stored <= reloaded);
				this.generation = generation;
				if (isMissing) this.publish(EVERY_GATEWAY, { type: 'missed' });
				void this.beforePersist(stored);
				return;
			} catch (error) {
				if (attempt === 0) report(error, `claiming ${partition}`);
				await sleep(RETRY_MS);
			}
		}
		throw new Released();
	}
}
