import { Admin } from '@platformatic/kafka';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { type HeldOffsets, heldOffsets } from './held-offsets.ts';

/** Inspects brokers and topics without creating anything. */

export interface InspectedKafka {
	readonly brokers: number;
	/** Number of partitions of those topics that exist. */
	readonly partitions: ReadonlyMap<string, number>;
	/** Ids of those topics: a topic that was created again has a new id. */
	readonly ids: ReadonlyMap<string, string>;
}

const CLOSE_MS = 2000;

export async function inspectKafka(
	connection: KafkaConnection,
	topics: readonly string[],
): Promise<InspectedKafka> {
	const admin = new Admin(clientOptions(connection));
	try {
		const existing = new Set(await admin.listTopics());
		const known = topics.filter((topic) => existing.has(topic));
		const metadata = await admin.metadata({ topics: known, forceUpdate: true });
		const counts = known.map((topic) => [topic, metadata.topics.get(topic)?.partitionsCount ?? 0] as const);
		const ids = known.map((topic) => [topic, metadata.topics.get(topic)?.id ?? ''] as const);
		return { brokers: metadata.brokers.size, partitions: new Map(counts), ids: new Map(ids) };
	} catch (error) {
		throw new KafkaUnusable(connection.brokers, error);
	} finally {
		await settleWithin(CLOSE_MS, () => admin.close());
	}
}

/** Offsets of all partitions of those topics that exist. */
export async function inspectOffsets(
	connection: KafkaConnection,
	topics: readonly string[],
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly held: ReadonlyMap<string, HeldOffsets> }> {
	const { partitions, ids } = await inspectKafka(connection, topics);
	return { ids, held: partitions.size === 0 ? new Map() : await heldOffsets(connection, partitions) };
}
