import { Admin } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { type HeldOffsets, heldOffsets } from './held-offsets.ts';

/** A look at the brokers and the topics: none is made. */

export interface InspectedKafka {
	readonly brokers: number;
	/** Partitions by topic, of those asked about that exist. */
	readonly partitions: ReadonlyMap<string, number>;
	/** Likewise, the id, by which a topic differs from an earlier one of the same name. */
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
		await closeWithin(CLOSE_MS, () => admin.close());
	}
}

/** What each partition of these topics holds, of those that exist. */
export async function inspectOffsets(
	connection: KafkaConnection,
	topics: readonly string[],
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly held: ReadonlyMap<string, HeldOffsets> }> {
	const { partitions, ids } = await inspectKafka(connection, topics);
	return { ids, held: partitions.size === 0 ? new Map() : await heldOffsets(connection, partitions) };
}
