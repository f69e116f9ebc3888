import type { Fitness } from '../fitness.ts';
import type { KafkaConnection } from './client.ts';
import { GroupConsumer, type GroupConsumerOptions } from './group-consumer.ts';
import { partitionOf } from './partitioning.ts';
import type { BatchingProducer } from './producer.ts';
import type { Reach } from './reach.ts';
import type { PartitionWatch } from './stalled-partitions.ts';

/** One Kafka topic: appends by key, and one consumer per process. */

export interface LogTopicOptions {
	readonly connection: KafkaConnection;
	readonly topic: string;
	readonly partitions: number;
	readonly group: string;
	readonly sessionMs?: number;
	readonly releaseMs?: number;
	readonly fitness?: Fitness;
	readonly report: (error: unknown, about: string) => void;
	readonly watch: PartitionWatch;
	/** For the reading side. */
	readonly reach: Reach;
}

type ConsumeOptions<Body> = Pick<
	GroupConsumerOptions<Body>,
	'decode' | 'owner' | 'handle' | 'gatherMs' | 'paceMs'
>;

export class LogTopic {
	private consumer: { close(): Promise<void> } | null = null;

	constructor(
		private readonly options: LogTopicOptions,
		private readonly producer: BatchingProducer,
	) {}

	append(key: string, value: string): Promise<void> {
		const { topic, partitions } = this.options;
		return this.producer.append(topic, partitionOf(key, partitions), key, value);
	}

	consume<Body>(options: ConsumeOptions<Body>): GroupConsumer<Body> {
		if (this.consumer) throw new Error(`this process already consumes ${this.options.topic}`);
		const consumer = new GroupConsumer<Body>({ ...this.options, ...options });
		this.consumer = consumer;
		consumer.start();
		return consumer;
	}

	async close(): Promise<void> {
		await this.consumer?.close();
	}
}
