import type { ReadFact } from '../../ports/facts.ts';
import type { Consumption, MarkLog, MarkPersister } from '../../ports/log.ts';
import { decodeFact, encodeFact } from './codec.ts';
import type { LogTopic } from './topic.ts';

/**
 * Changes of users' read state, keyed by user. They are already applied when they are appended, so no request waits until they
 * are persisted: records are gathered for a while and written in one transaction.
 */

const GATHER_MS = 100;

export class KafkaMarkLog implements MarkLog {
	constructor(private readonly topic: LogTopic) {}

	async append(facts: readonly ReadFact[]): Promise<void> {
		await Promise.all(facts.map((fact) => this.topic.append(fact.user, encodeFact(fact))));
	}

	consume(persister: MarkPersister): Consumption {
		return this.topic.consume({
			decode: decodeFact,
			gatherMs: GATHER_MS,
			paceMs: GATHER_MS,
			owner: {
				progress: (partition) => persister.progress(partition),
				logId: async (partition) => (await persister.logId?.(partition)) ?? null,
				onRevoked: (partitions) => persister.onRevoked?.(partitions),
			},
			handle: (batch, span) =>
				persister.persist(
					batch.map(({ body }) => body),
					span,
				),
		});
	}
}
