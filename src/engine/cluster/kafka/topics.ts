import {
	Admin,
	type Callback,
	type Connection,
	findErrorBy,
	kGetBootstrapConnection,
} from '@platformatic/kafka';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { KafkaUnusable } from './errors.ts';
import { partialResponse } from './lenient-consumer.ts';

/**
 * Creates missing topics. Existing ones stay unchanged: a different number of partitions would move
 * conversations, and records left in the old partition would be decided by another worker at the same
 * time. Only an operator can add partitions, while nothing is being appended.
 */

export interface TopicLayout {
	readonly topics: readonly string[];
	readonly partitions: number;
	/** Number of brokers that store each record. */
	readonly replication: number;
}

const CLOSE_MS = 2000;
/** A broker that has not answered by then hangs; the next one is asked. */
const REQUEST_MS = 5_000;
const KNOWN_WITHIN_MS = 15_000;
const ASK_AGAIN_MS = 200;

/** Asks another broker each time. The client's own class asks the first one again, even if it hangs. */
class RotatingAdmin extends Admin {
	private asked = 0;

	override [kGetBootstrapConnection](callback: Callback<Connection>): void {
		super[kGetBootstrapConnection](callback, this.asked);
		this.asked += 1;
	}
}

/** Resolves to the number of partitions of each topic. */
export async function ensureTopics(
	connection: KafkaConnection,
	layout: TopicLayout,
): Promise<ReadonlyMap<string, number>> {
	const admin = new RotatingAdmin({ ...clientOptions(connection), requestTimeout: REQUEST_MS });
	try {
		const existing = await existingTopics(admin);
		for (const topic of layout.topics) if (!existing.has(topic)) await create(admin, topic, layout);
		return await partitionCounts(admin, layout.topics);
	} catch (error) {
		throw new KafkaUnusable(connection.brokers, error);
	} finally {
		await settleWithin(CLOSE_MS, () => admin.close());
	}
}

/** A new topic, created here or by another process, is not known to every broker at once. */
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

function countsIn(error: unknown, names: readonly string[]): ReadonlyMap<string, number> | null {
	const answer = answerIn(error);
	const counts = new Map(answer?.topics.map(({ name, partitions }) => [name ?? '', partitions.length]));
	return names.every((name) => (counts.get(name) ?? 0) > 0) ? counts : null;
}

async function existingTopics(admin: Admin): Promise<ReadonlySet<string>> {
	try {
		return new Set(await admin.listTopics());
	} catch (error) {
		const answer = answerIn(error);
		if (!answer) throw error;
		return new Set(answer.topics.map(({ name }) => name ?? ''));
	}
}

/** The client's lookups fail entirely while a partition of any topic has no leader; the error contains the answer. */
function answerIn(error: unknown): ReturnType<typeof partialResponse> {
	if (!(error instanceof Error)) return null;
	const answer = partialResponse(error);
	if (answer) return answer;
	const causes = error instanceof AggregateError ? error.errors : [];
	for (const cause of [...causes, error.cause]) {
		const found = answerIn(cause);
		if (found) return found;
	}
	return null;
}

async function create(admin: Admin, topic: string, layout: TopicLayout): Promise<void> {
	// Writes continue with one replica unavailable; with more, they are rejected, because they could
	// be lost.
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
		// Another process that starts at the same time created it first.
		const alreadyExists = error instanceof Error && findErrorBy(error, 'apiId', 'TOPIC_ALREADY_EXISTS');
		if (!alreadyExists) throw error;
	}
}
