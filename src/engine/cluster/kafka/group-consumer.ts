import type { Consumption, LogSpan, PartitionOwner } from '../../ports/log.ts';
import type { Fitness } from '../fitness.ts';
import type { KafkaConnection } from './client.ts';
import { LogGap, RecordOfOtherVersion, TopicReplaced, UnknownVersion, Unreadable } from './errors.ts';
import { type Fetched, Fetcher } from './fetcher.ts';
import { GroupMember } from './group-member.ts';
import { type DecodedRecord, PartitionReader, type ReaderOptions } from './partition-reader.ts';
import { partitionName, partitionNumber } from './partitioning.ts';
import type { Reach } from './reach.ts';
import { type PartitionWatch, StalledPartitions } from './stalled-partitions.ts';

/**
 * Consumes the partitions of a topic that the group assigns to this process, each from the offset that `owner` has stored.
 * Kafka's committed offsets are neither read nor written.
 */

export interface GroupConsumerOptions<Body> extends Partial<ReaderOptions> {
	readonly connection: KafkaConnection;
	readonly topic: string;
	readonly group: string;
	readonly sessionMs?: number;
	readonly releaseMs?: number;
	/** Polls that return records start at least this far apart. */
	readonly paceMs?: number;
	readonly fitness?: Fitness;
	/** Throws on invalid records. */
	readonly decode: (value: Buffer) => Body;
	readonly owner: PartitionOwner;
	/** `span` begins where the previous one ended. */
	readonly handle: (batch: readonly DecodedRecord<Body>[], span: LogSpan) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
	readonly watch: PartitionWatch;
	readonly reach: Reach;
}

const BATCH_LIMIT = 1000;
/** Short, because posts wait for it under load. */
const PACE_MS = 4;
const RESTART_MS = 500;
/** Long, because nothing changes until this process is upgraded. */
const OTHER_VERSION_MS = 10_000;

export class GroupConsumer<Body> implements Consumption {
	private readonly readers = new Map<number, PartitionReader<Body>>();
	/** Id of the topic that each reader reads: a topic that was created again has a new id. */
	private readonly ids = new Map<number, string>();
	/** Partitions assigned by the group, including those whose reader is being restarted. */
	private assigned: ReadonlySet<number> = new Set();
	/** Partitions that the owner is releasing. */
	private readonly releasing = new Map<number, Promise<void>>();
	private notified: Promise<void> = Promise.resolve();
	private readonly fetcher: Fetcher;
	private readonly member: GroupMember;
	private readonly stalled: StalledPartitions;

	constructor(private readonly options: GroupConsumerOptions<Body>) {
		const { connection, group, topic, report, reach, paceMs = PACE_MS } = options;
		this.stalled = new StalledPartitions(options.watch);
		this.fetcher = new Fetcher(connection, group, topic, paceMs, {
			wanted: () => this.wanted(),
			fetched: (fetched) => this.fetched(fetched),
			outOfRange: () => this.restartAll(),
			report,
			reach,
		});
		this.member = new GroupMember(connection, options, {
			keepOnly: (partitions) => this.keepOnly(partitions),
			assign: (partitions) => this.assign(partitions),
			report,
		});
	}

	start(): void {
		void this.member.join();
	}

	restart(partition: string): void {
		void this.release([partitionNumber(partition)]);
	}

	async close(): Promise<void> {
		await this.member.close();
		await this.fetcher.close();
	}

	private assign(partitions: readonly number[]): void {
		this.assigned = new Set(partitions);
		void this.release(this.notAssigned());
		void this.begin(partitions.filter((partition) => !this.readers.has(partition)));
	}

	private async keepOnly(partitions: readonly number[]): Promise<void> {
		this.assigned = new Set(partitions);
		await this.release(this.notAssigned());
	}

	private notAssigned(): readonly number[] {
		return [...this.readers.keys()].filter((partition) => !this.assigned.has(partition));
	}

	private async begin(partitions: readonly number[]): Promise<void> {
		if (partitions.length === 0) return;
		const readers = partitions.map((partition) => ({ partition, reader: this.readerOf(partition) }));
		for (const { partition, reader } of readers) this.readers.set(partition, reader);
		await this.notifyOwner('onAssigned', partitions);
		await Promise.all(readers.map(({ partition, reader }) => this.seek(partition, reader)));
	}

	/** Starts the reader at the offset that the owner has stored. */
	private async seek(partition: number, reader: PartitionReader<Body>): Promise<void> {
		const name = this.name(partition);
		try {
			const { owner } = this.options;
			const [known, id] = [(await owner.logId?.(name)) ?? null, await this.fetcher.topicId()];
			if (known !== null && known !== id) throw new TopicReplaced(name, known, id);
			this.ids.set(partition, id);
			const offset = await owner.progress(name);
			const { first, end } = await this.fetcher.held(partition);
			if (offset < first || offset > end) throw new LogGap(name, offset, first, end);
			reader.begin(offset);
			this.stalled.reached(name, offset);
			void this.fetcher.wake();
		} catch (error) {
			if (!reader.isStopped) this.failed(partition, reader, error);
		}
	}

	/** Resolves when the owner has released these partitions, even if another call started the release. */
	private async release(partitions: readonly number[]): Promise<void> {
		const held = partitions.filter(
			(partition) => this.readers.has(partition) && !this.releasing.has(partition),
		);
		if (held.length > 0) {
			const done = this.stopReaders(held);
			for (const partition of held) this.releasing.set(partition, done);
		}
		await Promise.all(partitions.map((partition) => this.releasing.get(partition)));
	}

	private async stopReaders(partitions: readonly number[]): Promise<void> {
		this.options.owner.onReleasing?.(partitions.map((partition) => this.name(partition)));
		await Promise.all(partitions.map((partition) => this.readers.get(partition)?.stop()));
		await this.notifyOwner('onRevoked', partitions);
		// Removed only now, so that a new assignment of the same partition does not start before the release ends.
		for (const partition of partitions) {
			this.readers.delete(partition);
			this.releasing.delete(partition);
			if (!this.assigned.has(partition)) this.stalled.clear(this.name(partition));
		}
		void this.restartAssigned(partitions.filter((partition) => this.assigned.has(partition)));
	}

	/** Restarts the partitions, unless another member has taken them over in the meantime. */
	private async restartAssigned(partitions: readonly number[]): Promise<void> {
		if (partitions.length === 0) return;
		await this.member.confirmed();
		// A partition that was revoked while it had no reader was not released, so its stall is cleared here.
		for (const partition of partitions)
			if (!this.assigned.has(partition)) this.stalled.clear(this.name(partition));
		await this.begin(
			partitions.filter((partition) => this.assigned.has(partition) && !this.readers.has(partition)),
		);
	}

	/** Runs calls one after the other: an assignment is reported before its revocation. */
	private notifyOwner(what: 'onAssigned' | 'onRevoked', partitions: readonly number[]): Promise<void> {
		const names = partitions.map((partition) => this.name(partition));
		const about = `${what === 'onAssigned' ? 'starting' : 'releasing'} ${names.join(', ')}`;
		this.notified = this.notified
			.then(() => this.options.owner[what]?.(names))
			.catch((error) => this.options.report(error, about));
		return this.notified;
	}

	private restartAll(): void {
		void this.release([...this.readers.keys()]);
	}

	private readerOf(partition: number): PartitionReader<Body> {
		const { batchLimit = BATCH_LIMIT, gatherMs = 0, handle } = this.options;
		const name = this.name(partition);
		const reader: PartitionReader<Body> = new PartitionReader(
			{ batchLimit, gatherMs },
			async (batch, from, to) => {
				const logId = this.ids.get(partition);
				await handle(batch, { partition: name, from, to, ...(logId === undefined ? {} : { logId }) });
				this.stalled.reached(name, to);
			},
			(error) => this.failed(partition, reader, error),
			() => void this.fetcher.wake(),
		);
		return reader;
	}

	private failed(partition: number, reader: PartitionReader<Body>, error: unknown): void {
		const name = this.name(partition);
		if (error instanceof Unreadable) this.stalled.stalled(name, error);
		else this.options.report(error, `consuming ${name}`);
		const restartMs = error instanceof RecordOfOtherVersion ? OTHER_VERSION_MS : RESTART_MS;
		setTimeout(() => {
			if (this.readers.get(partition) === reader) void this.release([partition]);
		}, restartMs);
	}

	private wanted() {
		let someAreFull = false;
		const partitions: { partition: number; position: number }[] = [];
		for (const [partition, { position, isFull }] of this.readers) {
			if (position === null) continue;
			if (isFull) someAreFull = true;
			else partitions.push({ partition, position });
		}
		return { partitions, someAreFull };
	}

	private async fetched({ partition, asked, records, next }: Fetched): Promise<void> {
		const reader = this.readers.get(partition);
		const decoded: DecodedRecord<Body>[] = [];
		for (const { offset, value } of records) {
			if (offset < asked) continue;
			try {
				if (value === null) throw new Error('the log record is empty');
				decoded.push({ offset, body: this.options.decode(value), bytes: value.length });
			} catch (error) {
				if (error instanceof UnknownVersion) {
					reader?.takeLast(asked, decoded, new RecordOfOtherVersion(this.name(partition), offset, error));
					return reader?.idle();
				}
				// The server never appends such a record, so no client waits for its outcome.
				this.options.report(
					error,
					`decoding log record ${offset} of ${this.name(partition)}, which is skipped,`,
				);
			}
		}
		reader?.take(asked, decoded, next);
		await reader?.idle();
	}

	private name(partition: number): string {
		return partitionName(this.options.topic, partition);
	}
}
