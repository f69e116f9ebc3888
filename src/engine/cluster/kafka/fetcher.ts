import {
	type ClusterTopicMetadata,
	type Consumer,
	findErrorBy,
	ListOffsetTimestamps,
} from '@platformatic/kafka';
import { Refusal } from '../../../model/errors.ts';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import type { HeldOffsets } from './held-offsets.ts';
import { LenientConsumer, NO_LEADER } from './lenient-consumer.ts';
import { partitionName } from './partitioning.ts';
import { isNetwork, type Reach } from './reach.ts';

/**
 * Fetches from wherever readers stand, by one long poll to each broker that leads some of their partitions. Kafka
 * answers as soon as there is an entry. Partitions without a leader are left out, and looked up again until they have one.
 */

export interface Wanted {
	readonly partition: number;
	readonly position: number;
}

export interface Fetched {
	readonly partition: number;
	/** The position that was asked for. */
	readonly asked: number;
	readonly records: readonly { readonly offset: number; readonly value: Buffer | null }[];
	/** One after the last. */
	readonly next: number;
}

export interface FetchTarget {
	/** Partitions to fetch now, and whether there are more that have to wait until their readers have room. */
	wanted(): { readonly partitions: readonly Wanted[]; readonly someAreFull: boolean };
	fetched(fetched: Fetched): void;
	/** Kafka has nothing at one of the positions. */
	outOfRange(): void;
	report(error: unknown, about: string): void;
	readonly reach: Reach;
}

type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>;

/** A reader that is new joins the next poll, so it waits that long at most. */
const POLL_MS = 250;
/** With readers that will have room at any moment. */
const SHORT_POLL_MS = 5;
const PARTITION_BYTES = 1_048_576;
const FETCH_BYTES = 8 * PARTITION_BYTES;
const RETRY_MS = 250;
/** A broker that hangs is not waited for longer, and another one is asked who leads. */
const REQUEST_MS = 5000;
const METADATA_RETRIES = 2;
/** How soon a partition that had no leader is looked up again. */
const LEADER_MS = 1000;
/** How long a look-up serves the polls that follow. */
const KNOWN_MS = 1000;
const CLOSE_MS = 2000;

export class Fetcher {
	private readonly client: Consumer;
	/** Brokers with a poll under way. */
	private readonly polled = new Set<number>();
	private looking = false;
	private lookingAgain = false;
	private closed = false;
	private failing = false;
	private known: { readonly topic: ClusterTopicMetadata; readonly until: number } | null = null;
	/** Of the topic that positions are in. */
	private id: string | null = null;

	constructor(
		connection: KafkaConnection,
		group: string,
		private readonly topic: string,
		private readonly target: FetchTarget,
	) {
		// Never joins the group: it is named because the client wants one.
		this.client = new LenientConsumer({
			...clientOptions(connection),
			groupId: group,
			autocommit: false,
			requestTimeout: REQUEST_MS,
			retries: 0,
		});
		this.client.topics.track(topic);
	}

	/** As the brokers have it now; what is read from then on is of that topic. */
	async topicId(): Promise<string> {
		this.known = null;
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
			this.forget();
			throw new Refusal('service_unavailable', `${partitionName(this.topic, partition)} has no leader`);
		}
		const at = async (timestamp: bigint): Promise<number> => {
			const query = { topics: [this.topic], partitions: { [this.topic]: [partition] }, timestamp };
			const offsets = await this.client.listOffsets(query);
			return Number(offsets.get(this.topic)?.[partition] ?? 0n);
		};
		return {
			first: await at(ListOffsetTimestamps.EARLIEST),
			end: await at(ListOffsetTimestamps.LATEST),
		};
	}

	/** There is, or may be, something to fetch that no poll asks for. */
	async wake(): Promise<void> {
		if (this.looking || this.closed) return;
		this.looking = true;
		try {
			const { partitions, someAreFull } = this.target.wanted();
			if (partitions.length === 0) {
				// What was read in vain may be another process's by now: there is no attempt here that could succeed.
				this.target.reach.regained();
				return;
			}
			const topic = await this.lookUp();
			if (this.id !== null && topic.id !== this.id) {
				// It was created again: positions in the old one say nothing about it.
				this.id = topic.id;
				this.target.outOfRange();
				return;
			}
			const byBroker = Map.groupBy(
				partitions,
				({ partition }) => topic.partitions[partition]?.leader ?? NO_LEADER,
			);
			if (byBroker.delete(NO_LEADER)) this.lookAgain();
			for (const [broker, wanted] of byBroker)
				if (!this.polled.has(broker)) void this.poll(broker, topic.id, wanted, someAreFull);
		} catch (error) {
			this.retry(error);
		} finally {
			this.looking = false;
		}
	}

	/** The client keeps metadata too, but validating the question and copying the answer cost a tenth of a worker's time. */
	private async lookUp(): Promise<ClusterTopicMetadata> {
		if (this.known && performance.now() < this.known.until) return this.known.topic;
		const { topics } = await this.client.metadata({ topics: [this.topic], retries: METADATA_RETRIES });
		const topic = topics.get(this.topic);
		if (!topic) throw new Error(`there is no topic ${this.topic}`);
		this.known = { topic, until: performance.now() + KNOWN_MS };
		return topic;
	}

	private forget(): void {
		this.known = null;
		this.client.clearMetadata();
	}

	/** Later: some partition has no leader, and nothing else would ask for one. */
	private lookAgain(): void {
		if (this.lookingAgain) return;
		this.lookingAgain = true;
		setTimeout(() => {
			this.lookingAgain = false;
			this.forget();
			void this.wake();
		}, LEADER_MS);
	}

	async close(): Promise<void> {
		this.closed = true;
		await closeWithin(CLOSE_MS, () => this.client.close(true));
	}

	private async poll(
		broker: number,
		topicId: string,
		wanted: readonly Wanted[],
		short: boolean,
	): Promise<void> {
		this.polled.add(broker);
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
			this.handOver(response, new Map(wanted.map(({ partition, position }) => [partition, position])));
			this.polled.delete(broker);
			void this.wake();
		} catch (error) {
			this.polled.delete(broker);
			this.retry(error);
		}
	}

	private handOver(response: FetchResponse, asked: ReadonlyMap<number, number>): void {
		for (const { partitions } of response.responses)
			for (const { partitionIndex, records } of partitions) {
				const last = records?.at(-1);
				const position = asked.get(partitionIndex);
				if (!records || !last || position === undefined) continue;
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
				});
			}
	}

	private retry(error: unknown): void {
		if (this.closed) return;
		if (error instanceof Error && findErrorBy(error, 'apiId', 'OFFSET_OUT_OF_RANGE'))
			this.target.outOfRange();
		else if (!this.failing) this.target.report(error, `fetching from ${this.topic}`);
		this.failing = true;
		if (isNetwork(error)) this.target.reach.lost(error);
		// Another broker may lead now.
		this.forget();
		setTimeout(() => void this.wake(), RETRY_MS);
	}
}
