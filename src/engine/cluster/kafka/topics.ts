import { Admin, findErrorBy } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { KafkaUnusable } from './errors.ts';

/**
 * The topics, made where there are none. One that exists stays as it is: with another number of partitions a
 * conversation would be in another one, and what is still unread in its old one would be decided by two workers
 * at once. Adding partitions is for a person, while nothing is being appended.
 */

export interface TopicLayout {
	readonly topics: readonly string[];
	readonly partitions: number;
	/** Brokers that hold each entry. */
	readonly replication: number;
}

const CLOSE_MS = 2000;

/** How many partitions each topic has. */
export async function ensureTopics(
	connection: KafkaConnection,
	layout: TopicLayout,
): Promise<ReadonlyMap<string, number>> {
	const admin = new Admin(clientOptions(connection));
	try {
		const existing = new Set(await admin.listTopics());
		for (const topic of layout.topics) if (!existing.has(topic)) await create(admin, topic, layout);
		const { topics } = await admin.metadata({ topics: [...layout.topics], forceUpdate: true });
		return new Map(layout.topics.map((topic) => [topic, topics.get(topic)?.partitionsCount ?? 0]));
	} catch (error) {
		throw new KafkaUnusable(connection.brokers, error);
	} finally {
		await closeWithin(CLOSE_MS, () => admin.close());
	}
}

async function create(admin: Admin, topic: string, layout: TopicLayout): Promise<void> {
	// One broker of the replicas may be away without stopping writes; with two or more of them away nothing is taken
	// that could be lost.
	const inSync = Math.max(1, layout.replication - 1);
	try {
		await admin.createTopics({
			topics: [topic],
			partitions: layout.partitions,
			replicas: layout.replication,
			configs: [
				{ name: 'cleanup.policy', value: 'delete' },
				{ name: 'min.insync.replicas', value: String(inSync) },
			],
		});
	} catch (error) {
		// Another process that starts at the same time was first.
		const made = error instanceof Error && findErrorBy(error, 'apiId', 'TOPIC_ALREADY_EXISTS');
		if (!made) throw error;
	}
}
