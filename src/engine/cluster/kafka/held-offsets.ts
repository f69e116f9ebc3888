import { Consumer, ListOffsetTimestamps } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { partitionName } from './partitioning.ts';

/** The entries of a partition that Kafka has: from `first` on, `end` being the next to be written. */
export interface HeldOffsets {
	readonly first: number;
	readonly end: number;
}

const CLOSE_MS = 2000;

/** What Kafka has now of each partition of these topics, whose numbers of partitions are given. */
export async function heldOffsets(
	connection: KafkaConnection,
	topics: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, HeldOffsets>> {
	// Never joins a group: one is named because the client wants one.
	const client = new Consumer({ ...clientOptions(connection), groupId: 'tidemark', autocommit: false });
	const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
	const partitions = Object.fromEntries([...topics].map(([topic, count]) => [topic, numbers(count)]));
	const at = (timestamp: bigint) => client.listOffsets({ topics: [...topics.keys()], partitions, timestamp });
	try {
		const first = await at(ListOffsetTimestamps.EARLIEST);
		const end = await at(ListOffsetTimestamps.LATEST);
		return new Map(
			[...topics].flatMap(([topic, count]) =>
				numbers(count).map((number) => [
					partitionName(topic, number),
					{ first: offsetOf(first, topic, number), end: offsetOf(end, topic, number) },
				]),
			),
		);
	} catch (error) {
		throw new KafkaUnusable(connection.brokers, error);
	} finally {
		await closeWithin(CLOSE_MS, () => client.close(true));
	}
}

function offsetOf(offsets: ReadonlyMap<string, readonly bigint[]>, topic: string, number: number): number {
	const offset = offsets.get(topic)?.[number];
	// Taken for an empty one, it would seem that nothing of it waits.
	if (offset === undefined)
		throw new Error(`the broker returned no offset for ${partitionName(topic, number)}`);
	return Number(offset);
}
