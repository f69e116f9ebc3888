import type { Fact } from '../../ports/facts.ts';
import type { LogSpan } from '../../ports/log.ts';
import { Batch } from '../../store/batch.ts';
import type { FactWriter } from '../../store/push-facts.ts';
import type { Statement } from '../../store/sql.ts';
import { Fenced } from './errors.ts';
import type { Planner } from './plan.ts';
import type { Retry } from './retry.ts';
import { runTransaction, type Writer } from './transaction.ts';
import { withNumbers } from './values.ts';

/**
 * Persists facts together with the log offset that they were decided up to. The offset is written only if it still has the
 * value that the writer expects: once the next owner has written, a worker that lost its partition without noticing can no longer write to it, and
 * the next owner finds exactly what was persisted.
 */

const READ = 'SELECT next_offset, topic_id FROM partition_progress WHERE partition = $1';
const READ_ALL = 'SELECT partition, next_offset FROM partition_progress';
const MOVE = `UPDATE partition_progress SET next_offset = $3, topic_id = COALESCE($4, topic_id)
	WHERE partition = $1 AND next_offset = $2`;
/** At offset 0 there may be no row yet. */
const BEGIN = `INSERT INTO partition_progress (partition, next_offset, topic_id) VALUES ($1, $3, $4)
	ON CONFLICT (partition) DO UPDATE SET next_offset = excluded.next_offset,
		topic_id = COALESCE(excluded.topic_id, partition_progress.topic_id)
	WHERE partition_progress.next_offset = $2`;

interface Row {
	readonly next_offset: number;
	readonly topic_id: string | null;
}

export class PartitionProgress {
	/** The newest commit of each partition: commits of a partition run in order. */
	private readonly last = new Map<string, Promise<void>>();

	constructor(
		private readonly writer: Writer,
		/** Separate from the writer's: a server that rejects writes still answers reads, which must not end the reported trouble. */
		private readonly reading: Retry,
		private readonly planner: Planner,
		private readonly writeFact?: FactWriter,
	) {}

	/** Resolves when facts and offset are durable; they are written atomically. Rejects with `Fenced` if the offset is not `from`. */
	commit(facts: readonly Fact[], span: LogSpan): Promise<void> {
		const batch = new Batch(this.writeFact);
		// The newest stamp is not recorded: all partitions would wait for each other to write the same row.
		for (const fact of facts) batch.addFact(fact);
		const statements = [moveOffset(span), ...this.planner.plan(batch)];
		const check = ([moved]: readonly number[]) => {
			if (moved !== 1) throw new Fenced(span.partition, span.from);
		};
		const earlier = this.last.get(span.partition) ?? Promise.resolve();
		// The offset shows whether the previous commit succeeded.
		const done = earlier.catch(() => undefined).then(() => runTransaction(this.writer, statements, check));
		this.last.set(span.partition, done);
		return done;
	}

	/** The offset to resume from. */
	async nextOffset(partition: string): Promise<number> {
		return (await this.read(partition))?.next_offset ?? 0;
	}

	async nextOffsets(): Promise<ReadonlyMap<string, number>> {
		const { pool } = this.writer;
		const rows = await this.reading.run(() =>
			pool.use((sql) => sql.unsafe<{ partition: string; next_offset: number }[]>(READ_ALL)),
		);
		return new Map(withNumbers([...rows]).map(({ partition, next_offset }) => [partition, next_offset]));
	}

	/** Id of the topic that the offset belongs to; null if unknown. */
	async logIdOf(partition: string): Promise<string | null> {
		return (await this.read(partition))?.topic_id ?? null;
	}

	private async read(partition: string): Promise<Row | undefined> {
		const { pool } = this.writer;
		const rows = await this.reading.run(() => pool.use((sql) => sql.unsafe<Row[]>(READ, [partition])));
		return withNumbers([...rows])[0];
	}

	/** Resolves when no commit is running. */
	async idle(): Promise<void> {
		await Promise.allSettled(this.last.values());
	}
}

const moveOffset = ({ partition, from, to, logId }: LogSpan): Statement => ({
	sql: from === 0 ? BEGIN : MOVE,
	params: [partition, from, to, logId ?? null],
});
