import { Admin, findErrorBy, MultipleErrors } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { topicsAreThere } from './lenient-consumer.ts';

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
const KNOWN_WITHIN_MS = 15_000;
const ASK_AGAIN_MS = 200;

/** How many partitions each topic has. */
export async function ensureTopics(
	connection: KafkaConnection,
	layout: TopicLayout,
): Promise<ReadonlyMap<string, number>> {
	const admin = new Admin(clientOptions(connection));
	try {
		const existing = new Set(await admin.listTopics());
		for (const topic of layout.topics) if (!existing.has(topic)) await create(admin, topic, layout);
		return await partitionCounts(admin, layout.topics);
	} catch (error) {
		throw new KafkaUnusable(connection.brokers, error);
	} finally {
		await closeWithin(CLOSE_MS, () => admin.close());
	}
}

/** A topic that was made a moment ago, here or by another process, is not known to every broker at once. */
async function partitionCounts(admin: Admin, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
	for (const end = performance.now() + KNOWN_WITHIN_MS; ; ) {
		try {
			const { topics } = await admin.metadata({ topics: [...names], forceUpdate: true });
			const counts = new Map(names.map((topic) => [topic, topics.get(topic)?.partitionsCount ?? 0]));
			if (![...counts.values()].includes(0)) return counts;
			if (performance.now() > end) throw new Error(`${names.join(' or ')} has no partitions`);
		} catch (error) {
			const counts = countsIn(error, names);
			if (counts) return counts;
			if (performance.now() > end) throw error;
		}
		await Bun.sleep(ASK_AGAIN_MS);
	}
}

/** The client's look-up fails while a partition has no leader; how many there are is known all the same. */
function countsIn(error: unknown, names: readonly string[]): ReadonlyMap<string, number> | null {
	const causes = error instanceof MultipleErrors ? error.errors : [error];
	for (const cause of causes) {
		const answer = cause instanceof Error ? topicsAreThere(cause) : null;
		const counts = new Map(answer?.topics.map(({ name, partitions }) => [name ?? '', partitions.length]));
		if (names.every((name) => (counts.get(name) ?? 0) > 0)) return counts;
	}
	return null;
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
