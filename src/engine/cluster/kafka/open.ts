import type { CommandLog, MarkLog } from '../../ports/log.ts';
import type { Fitness } from '../fitness.ts';
import type { KafkaConnection } from './client.ts';
import { KafkaCommandLog } from './command-log.ts';
import { KafkaUnusable, withoutWrappers } from './errors.ts';
import { GroupOwners } from './group-owners.ts';
import { heldOffsets } from './held-offsets.ts';
import { KafkaMarkLog } from './mark-log.ts';
import { partitionName } from './partitioning.ts';
import { BatchingProducer, type ProducerOptions } from './producer.ts';
import { reachOf } from './reach.ts';
import type { PartitionWatch } from './stalled-partitions.ts';
import { LogTopic } from './topic.ts';
import { ensureTopics } from './topics.ts';

export { KafkaUnusable, LogGap } from './errors.ts';

/** The log of a cluster: one Kafka, shared by all gateways and workers. See docs/adr/0014-kafka-client.md. */

export interface KafkaLogsOptions extends KafkaConnection, ProducerOptions {
	/** Prefix of topics and groups, so that several installations can share a Kafka. */
	readonly prefix?: string;
	/** For topics that have to be created; existing ones keep theirs. */
	readonly partitions?: number;
	readonly replication?: number;
	/** A worker that is silent for this long loses its partitions. At least 6 s, unless Kafka is configured otherwise. */
	readonly sessionMs?: number;
	/** How long a worker may take to persist effects before it releases a partition. */
	readonly releaseMs?: number;
	/** While this worker is unfit, its partitions go to others. */
	readonly fitness?: Fitness;
	readonly report?: (error: unknown, about: string) => void;
	readonly watch?: PartitionWatch;
}

export interface KafkaLogs {
	readonly commands: CommandLog;
	readonly marks: MarkLog;
	/** Partition counts, by topic name without the prefix. */
	readonly partitions: { readonly conversations: number; readonly users: number };
	/** The next offset of each partition of `users`. */
	endOfMarks(): Promise<ReadonlyMap<string, number>>;
	/** Partitions of commands without an owner; null if unknown, as during a rebalance. */
	unowned(): Promise<readonly string[] | null>;
	/** Checks whether Kafka is reachable, and notifies `reach`. Cheap: call it regularly. */
	probe(): Promise<void>;
	/** Releases partitions, leaves the groups, and sends pending appends. */
	close(): Promise<void>;
}

const PARTITIONS = 64;
const REPLICATION = 3;
const WORKERS = 'tidemark-workers';
const UNWATCHED: PartitionWatch = { onStalled: () => undefined, onResumed: () => undefined };

/** Names of the topics of an installation. */
export const topicNames = (prefix: string) => ({
	conversations: `${prefix}conversations`,
	users: `${prefix}users`,
});

export async function openKafkaLogs(options: KafkaLogsOptions): Promise<KafkaLogs> {
	const prefix = options.prefix ?? '';
	const { conversations, users } = topicNames(prefix);
	const layout = {
		topics: [conversations, users],
		partitions: options.partitions ?? PARTITIONS,
		replication: options.replication ?? REPLICATION,
	};
	const counts = await ensureTopics(options, layout);
	const report = (error: unknown, about: string): void => options.report?.(withoutWrappers(error), about);
	const appending = { ...options, report };
	// One for each topic, so that a flood of marks does not delay posts.
	const producers = {
		conversations: new BatchingProducer(options, [conversations], appending),
		users: new BatchingProducer(options, [users], appending),
	};
	try {
		await Promise.all([producers.conversations.open(), producers.users.open()]);
	} catch (error) {
		await Promise.all([producers.conversations.close(), producers.users.close()]);
		throw new KafkaUnusable(options.brokers, error);
	}
	const topicOf = (topic: string, group: string, producer: BatchingProducer): LogTopic =>
		new LogTopic(
			{
				connection: options,
				topic,
				partitions: counts.get(topic) ?? 0,
				group: `${prefix}${group}`,
				...(options.sessionMs === undefined ? {} : { sessionMs: options.sessionMs }),
				...(options.releaseMs === undefined ? {} : { releaseMs: options.releaseMs }),
				...(options.fitness === undefined ? {} : { fitness: options.fitness }),
				report,
				watch: options.watch ?? UNWATCHED,
				reach: reachOf(`reading ${topic}`, options.reach),
			},
			producer,
		);
	const topics = {
		conversations: topicOf(conversations, WORKERS, producers.conversations),
		users: topicOf(users, 'tidemark-persisters', producers.users),
	};
	const count = counts.get(conversations) ?? 0;
	const owners = new GroupOwners(options, `${prefix}${WORKERS}`, conversations, count);
	return {
		commands: new KafkaCommandLog(topics.conversations),
		marks: new KafkaMarkLog(topics.users),
		partitions: { conversations: count, users: counts.get(users) ?? 0 },
		async endOfMarks() {
			const held = await heldOffsets(options, new Map([[users, counts.get(users) ?? 0]]));
			return new Map([...held].map(([partition, { end }]) => [partition, end]));
		},
		async unowned() {
			const numbers = await owners.unowned();
			return numbers?.map((number) => partitionName(conversations, number)) ?? null;
		},
		// One is enough: both use the same brokers.
		probe: () => producers.conversations.probe(),
		async close() {
			await Promise.all([topics.conversations.close(), topics.users.close(), owners.close()]);
			await Promise.all([producers.conversations.close(), producers.users.close()]);
		},
	};
}
