import {
	type ClusterTopicMetadata,
	type Consumer,
	findErrorBy,
	ListOffsetTimestamps,
} from '@platformatic/kafka';
import { Rejection } from '../../../model/errors.ts';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { type HeldOffsets, offsetOf } from './held-offsets.ts';
import { LenientConsumer, NO_LEADER } from './lenient-consumer.ts';
import { partitionName } from './partitioning.ts';
import { isNetwork, type Reach } from './reach.ts';

/**
 * Fetches from the positions of readers, with one long poll per broker that leads some of their partitions. Kafka
 * answers as soon as there is a record. Partitions without a leader are skipped, and looked up again until they have one.
 */

export interface FetchPosition {
	readonly partition: number;
	readonly position: number;
}

export interface Fetched {
	readonly partition: number;
	/** The position that was requested. */
	readonly asked: number;
	readonly records: readonly { readonly offset: number; readonly value: Buffer | null }[];
	/** The offset after the last record. */
	readonly next: number;
}

export interface FetchTarget {
	/** Partitions to fetch now, and whether others have to wait until their readers have room. */
	wanted(): { readonly partitions: readonly FetchPosition[]; readonly someAreFull: boolean };
	/** Resolves when these records are handled, or will not be handled. */
	fetched(fetched: Fetched): Promise<void>;
	/** Kafka does not have one of the positions, or the topic was created again. */
	outOfRange(): void;
	report(error: unknown, about: string): void;
	readonly reach: Reach;
}

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>;

/** A new reader joins the next poll, so it waits at most this long, or `paceMs` if that is longer. */
const POLL_MS = 250;
/** Replaces `POLL_MS` while some readers are full: they may get room at any moment, and then join the next poll. */
const SHORT_POLL_MS = 5;
/** How long the next poll waits, after `paceMs`, until the records of this one are handled. */
const MAX_HANDLING_MS = 16;
const PARTITION_BYTES = 1_048_576;
const FETCH_BYTES = 8 * PARTITION_BYTES;
const RETRY_MS = 250;
/** After this time without an answer, another broker is asked for the leader. */
const REQUEST_MS = 5000;
const METADATA_RETRIES = 2;
/** How soon a partition without a leader is looked up again. */
const LEADER_RETRY_MS = 1000;
/** How long metadata is cached. */
const METADATA_MS = 1000;
const CLOSE_MS = 2000;

export class Fetcher {
	private readonly client: Consumer;
	/** Brokers with a poll in flight. */
	private readonly polled = new Set<number>();
	private isWaking = false;
	private isRetryingLeaders = false;
	private closed = false;
	private failing = false;
	private cached: { readonly topic: ClusterTopicMetadata; readonly until: number } | null = null;
	/** Id of the topic that the positions belong to. */
	private id: string | null = null;

	constructor(
		connection: KafkaConnection,
		group: string,
		private readonly topic: string,
		/** Polls of a broker that return records start at least this far apart: a poll costs more than the records in it. */
		private readonly paceMs: number,
		private readonly target: FetchTarget,
	) {
		// The client requires a group. This client never joins it.
		this.client = new LenientConsumer({
			...clientOptions(connection),
			groupId: group,
			autocommit: false,
			requestTimeout: REQUEST_MS,
			retries: 0,
		});
		this.client.topics.track(topic);
	}

	/** The current id of the topic. The first call also sets the id that positions belong to. */
	async topicId(): Promise<string> {
		this.cached = null;
		const { topics } = await this.client.metadata({
			topics: [this.topic],
			forceUpdate: true,
			retries: METADATA_RETRIES,
		});
		const id = topics.get(this.topic)?.id;
		if (id === undefined) throw new Error(`there is no topic ${this.topic}`);
		this.id ??= id;
		return id;
	}

	async held(partition: number): Promise<HeldOffsets> {
		const { topics } = await this.client.metadata({ topics: [this.topic], retries: METADATA_RETRIES });
		if ((topics.get(this.topic)?.partitions[partition]?.leader ?? NO_LEADER) === NO_LEADER) {
			this.dropMetadata();
			throw new Rejection('service_unavailable', `${partitionName(this.topic, partition)} has no leader`);
		}
		const at = async (timestamp: bigint): Promise<number> => {
			const query = { topics: [this.topic], partitions: { [this.topic]: [partition] }, timestamp };
			return offsetOf(await this.client.listOffsets(query), this.topic, partition);
		};
		return {
			first: await at(ListOffsetTimestamps.EARLIEST),
			end: await at(ListOffsetTimestamps.LATEST),
		};
	}

	/** For each leader of wanted partitions: starts a poll, unless one is in flight. */
	async wake(): Promise<void> {
		if (this.isWaking || this.closed) return;
		this.isWaking = true;
		try {
			const { partitions, someAreFull } = this.target.wanted();
			if (partitions.length === 0) {
				// Ends a reported outage: the failing partitions may have been reassigned, and without fetches no success would end it.
				this.target.reach.regained();
				return;
			}
			const topic = await this.topicMetadata();
			if (this.id !== null && topic.id !== this.id) {
				// The topic was created again: positions in the old one are meaningless.
				this.id = topic.id;
				this.target.outOfRange();
				return;
			}
			const byBroker = Map.groupBy(
				partitions,
				({ partition }) => topic.partitions[partition]?.leader ?? NO_LEADER,
			);
			if (byBroker.delete(NO_LEADER)) this.retryLeaders();
			for (const [broker, wanted] of byBroker)
				if (!this.polled.has(broker)) void this.poll(broker, topic.id, wanted, someAreFull);
		} catch (error) {
			this.retry(error);
		} finally {
			this.isWaking = false;
		}
	}

	/** Cached here, because validating and copying the client's cached metadata cost a tenth of a worker's time. */
	private async topicMetadata(): Promise<ClusterTopicMetadata> {
		if (this.cached && performance.now() < this.cached.until) return this.cached.topic;
		const { topics } = await this.client.metadata({ topics: [this.topic], retries: METADATA_RETRIES });
		const topic = topics.get(this.topic);
		if (!topic) throw new Error(`there is no topic ${this.topic}`);
		this.cached = { topic, until: performance.now() + METADATA_MS };
		return topic;
	}

	private dropMetadata(): void {
		this.cached = null;
		this.client.clearMetadata();
	}

	/** Looks up the leaders again later: nothing else does while a partition has none. */
	private retryLeaders(): void {
		if (this.isRetryingLeaders) return;
		this.isRetryingLeaders = true;
		setTimeout(() => {
			this.isRetryingLeaders = false;
			this.dropMetadata();
			void this.wake();
		}, LEADER_RETRY_MS);
	}

	async close(): Promise<void> {
		this.closed = true;
		await settleWithin(CLOSE_MS, () => this.client.close(true));
	}

	private async poll(
		broker: number,
		topicId: string,
		wanted: readonly FetchPosition[],
		short: boolean,
	): Promise<void> {
		this.polled.add(broker);
		const began = performance.now();
		try {
			const response = await this.client.fetch({
				node: broker,
				minBytes: 1,
				maxBytes: FETCH_BYTES,
				maxWaitTime: short ? SHORT_POLL_MS : POLL_MS,
				isolationLevel: 0,
				topics: [
					{
						topicId,
						partitions: wanted.map(({ partition, position }) => ({
							partition,
							fetchOffset: BigInt(position),
							partitionMaxBytes: PARTITION_BYTES,
							currentLeaderEpoch: -1,
							lastFetchedEpoch: -1,
						})),
					},
				],
			});
			this.failing = false;
			this.target.reach.regained();
			const handled = this.dispatch(
				response,
				new Map(wanted.map(({ partition, position }) => [partition, position])),
			);
			const pause = this.paceMs - (performance.now() - began);
			if (pause >= 1) await Bun.sleep(pause);
			// A process that falls behind polls less often: its batches grow, and each record costs less.
			await settleWithin(MAX_HANDLING_MS, () => handled);
			this.polled.delete(broker);
			void this.wake();
		} catch (error) {
			this.polled.delete(broker);
			this.retry(error);
		}
	}

	/** Resolves when all records are handled. */
	private async dispatch(response: FetchResponse, asked: ReadonlyMap<number, number>): Promise<void> {
		const handled: Promise<void>[] = [];
		for (const { partitions } of response.responses)
			for (const { partitionIndex, records } of partitions) {
				const last = records?.at(-1);
				const position = asked.get(partitionIndex);
				if (!records || !last || position === undefined) continue;
				handled.push(
					this.target.fetched({
						partition: partitionIndex,
						asked: position,
						records: records.flatMap((batch) =>
							batch.records.map(({ offsetDelta, value }) => ({
								offset: Number(batch.firstOffset) + offsetDelta,
								value,
							})),
						),
						next: Number(last.firstOffset) + last.lastOffsetDelta + 1,
					}),
				);
			}
		await Promise.all(handled);
	}

	private retry(error: unknown): void {
		if (this.closed) return;
		if (error instanceof Error && findErrorBy(error, 'apiId', 'OFFSET_OUT_OF_RANGE'))
			this.target.outOfRange();
		else if (isNetwork(error)) this.target.reach.lost(error);
		else if (!this.failing) this.target.report(error, `fetching from ${this.topic}`);
		this.failing = true;
		// Another broker may be the leader now.
		this.dropMetadata();
		setTimeout(() => void this.wake(), RETRY_MS);
	}
}
