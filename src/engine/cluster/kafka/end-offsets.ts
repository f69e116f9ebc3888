import { Consumer, ListOffsetTimestamps } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { partitionName } from './partitioning.ts';

const CLOSE_MS = 2000;

/** Where each partition of a topic ends now: the offset of the next entry. */
export async function endOffsets(
	connection: KafkaConnection,
	topic: string,
	partitions: number,
): Promise<ReadonlyMap<string, number>> {
	// Never joins a group: one is named because the client wants one.
	const client = new Consumer({ ...clientOptions(connection), groupId: topic, autocommit: false });
	try {
		const numbers = Array.from({ length: partitions }, (_, number) => number);
		const offsets = await client.listOffsets({
			topics: [topic],
			partitions: { [topic]: numbers },
			timestamp: ListOffsetTimestamps.LATEST,
		});
		const ends = offsets.get(topic) ?? [];
		return new Map(numbers.map((number) => [partitionName(topic, number), Number(ends[number] ?? 0n)]));
	} finally {
		await closeWithin(CLOSE_MS, () => client.close(true));
	}
}
