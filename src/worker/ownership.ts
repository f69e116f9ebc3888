import type { Bus, BusMessage, Topic } from '../engine/ports/bus.ts';
import type { DeliveryRecord } from '../engine/ports/delivery-record.ts';

/**
 * This process as the owner of a partition: what it publishes carries its generation, and how far it has published is recorded.
 *
 *     unclaimed   nothing is published yet
 *     owner       publishes, and records progress: before the store has an offset, everything below it was published
 *     behind      the read state is lost: what is decided is stored before it is published, so nothing is recorded until
 *                 `caughtUp`
 *     overtaken   a later owner has published or claimed the partition: nothing that is published here counts any more. Never left again
 *
 * A worker that dies while it is behind leaves a store that is further than the record: the next owner announces it.
 */

export interface OwnershipParts {
	readonly partition: string;
	readonly record: DeliveryRecord;
	readonly bus: Bus;
	/** Another worker publishes for the partition: it has to be begun again, if it still is this process's at all. */
	readonly onOvertaken: () => void;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

const RETRY_MS = 250;
const RECORDED_WITHIN_MS = 250;
/** Redis may not answer at all: a partition is handed over without that. */
const CLAIMED_WITHIN_MS = 1000;

export class Ownership {
	private generation: number | null = null;
	private isBehind = false;
	private isOvertaken = false;
	private ended = false;
	private claiming: Promise<void> | null = null;
	/** The newest offset that is being stored. */
	private offset = 0;
	/** Messages that Redis has not confirmed. */
	private readonly unconfirmed = new Set<Promise<unknown>>();
	private newest: Promise<boolean> | undefined;
	private recording: Promise<void> = Promise.resolve();
	/** How many were begun. */
	private records = 0;

	constructor(private readonly parts: OwnershipParts) {}

	/** Resolves when this process may publish. `stored`: the store has everything below this offset. */
	claim(stored: number): Promise<void> {
		this.claiming ??= this.tryToClaim(stored);
		return this.claiming;
	}

	publish(topic: Topic, message: BusMessage): void {
		const { partition, bus } = this.parts;
		const publisher = { partition, generation: this.generation ?? 0 };
		const published = bus.publishAs(publisher, topic, message);
		// Messages that go out together have one promise.
		if (published === this.newest) return;
		this.newest = published;
		const confirmed = published.then((isPublished) => {
			this.unconfirmed.delete(confirmed);
			if (!isPublished) this.overtaken();
		});
		this.unconfirmed.add(confirmed);
	}

	/**
	 * Everything up to here is about to be stored, and was published, unless this owner is behind. Resolves when that is recorded,
	 * or takes long: storing does not depend on Redis.
	 */
	async storing(offset: number): Promise<void> {
		this.offset = Math.max(this.offset, offset);
		if (this.isBehind) return;
		this.record();
		await Promise.race([this.recording, this.parts.sleep(RECORDED_WITHIN_MS)]);
	}

	fallBehind(): void {
		this.isBehind = true;
	}

	/** Everything that was decided is published. */
	caughtUp(): void {
		if (!this.isBehind) return;
		this.isBehind = false;
		this.record();
	}

	/** Resolves when progress is recorded, as far as that is possible, and no claim is on its way. */
	async settled(): Promise<void> {
		const claimed = this.claiming?.catch(() => undefined);
		await Promise.race([claimed, this.parts.sleep(CLAIMED_WITHIN_MS)]);
		await this.recording;
	}

	/** The partition is to be another's: it is not claimed from now on. What is published before that still counts. */
	end(): void {
		this.ended = true;
	}

	private record(): void {
		const { generation, offset } = this;
		if (generation === null || offset === 0) return;
		const earlier = [...this.unconfirmed];
		this.records += 1;
		const number = this.records;
		this.recording = Promise.all([this.recording, ...earlier]).then(() =>
			this.tryToRecord(generation, offset, number),
		);
	}

	/** Until it succeeds: else the next owner would take for unpublished what was stored last, though nobody missed it. */
	private async tryToRecord(generation: number, offset: number, number: number): Promise<void> {
		const { partition, record, sleep, report } = this.parts;
		for (let attempt = 0; !this.isOvertaken && !this.isBehind; attempt += 1) {
			try {
				if (!(await record.delivered(partition, generation, offset))) this.overtaken();
				return;
			} catch (error) {
				if (attempt === 0) report(error, `recording what was published of ${partition}`);
				// One that is waiting to be made covers this one.
				if (this.ended || this.records > number) return;
				await sleep(RETRY_MS);
			}
		}
	}

	private overtaken(): void {
		if (this.isOvertaken) return;
		this.isOvertaken = true;
		this.parts.onOvertaken();
	}

	private async tryToClaim(stored: number): Promise<void> {
		const { partition, record, sleep, report } = this.parts;
		for (let attempt = 0; !this.ended; attempt += 1) {
			try {
				const { generation, delivered } = await record.claim(partition);
				if (stored > (delivered ?? 0)) await record.announceMissed();
				this.generation = generation;
				void this.storing(stored);
				return;
			} catch (error) {
				if (attempt === 0) report(error, `claiming ${partition}`);
				await sleep(RETRY_MS);
			}
		}
		throw new Error('the partition was given up');
	}
}
