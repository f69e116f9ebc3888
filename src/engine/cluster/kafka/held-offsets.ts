import { Consumer, ListOffsetTimestamps } from '@platformatic/kafka';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { partitionName } from './partitioning.ts';

/** The records of a partition that Kafka has: `first` is the oldest, `end` the next to be written. */
export interface HeldOffsets {
	readonly first: number;
	readonly end: number;
}

const CLOSE_MS = 2000;

/** Current offsets of all partitions of these topics, given their numbers of partitions. */
export async function heldOffsets(
	connection: KafkaConnection,
	topics: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, HeldOffsets>> {
	// The client requires a group. This client never joins it.
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
		await settleWithin(CLOSE_MS, () => client.close(true));
	}
}

export function offsetOf(
	offsets: ReadonlyMap<string, readonly bigint[]>,
	topic: string,
	number: number,
): number {
	const offset = offsets.get(topic)?.[number];
	// An offset of 0 instead would make the partition look empty, as if nothing were pending.
	if (offset === undefined)
		throw new Error(`the broker returned no offset for ${partitionName(topic, number)}`);
	return Number(offset);
}
