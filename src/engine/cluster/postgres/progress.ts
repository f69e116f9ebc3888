import type { Fact } from '../../ports/facts.ts';
import type { LogSpan } from '../../ports/log.ts';
import { Batch } from '../../store/batch.ts';
import type { FactWriter } from '../../store/push-facts.ts';
import type { Statement } from '../../store/sql.ts';
import { Fenced } from './errors.ts';
import type { Planner } from './plan.ts';
import type { Pool } from './pool.ts';
import type { Retry } from './retry.ts';
import { carryOut } from './transaction.ts';
import { withNumbers } from './values.ts';

/**
 * Facts together with how far the log was read to get them. The offset is set only where it is what the writer
 * believes it to be: a worker that lost its partition without knowing can write nothing to it any more, and one
 * that takes over finds exactly what was written.
 */

const READ = 'SELECT next_offset, topic_id FROM partition_progress WHERE partition = $1';
const MOVE = `UPDATE partition_progress SET next_offset = $3, topic_id = COALESCE($4, topic_id)
	WHERE partition = $1 AND next_offset = $2`;
/** From the beginning there may be no row yet. */
const BEGIN = `INSERT INTO partition_progress (partition, next_offset, topic_id) VALUES ($1, $3, $4)
	ON CONFLICT (partition) DO UPDATE SET next_offset = excluded.next_offset,
		topic_id = COALESCE(excluded.topic_id, partition_progress.topic_id)
	WHERE partition_progress.next_offset = $2`;

interface Row {
	readonly next_offset: number;
	readonly topic_id: string | null;
}

export class Progress {
	/** Of each partition, the commit that is last in line: they are carried out in order. */
	private readonly last = new Map<string, Promise<void>>();

	constructor(
		private readonly pool: Pool,
		private readonly retry: Retry,
		private readonly planner: Planner,
		private readonly writeFact?: FactWriter,
	) {}

	/** Resolves when facts and offset are on disk, together. Rejects with `Fenced` when the offset is not `from`. */
	commit(facts: readonly Fact[], range: LogSpan): Promise<void> {
		const batch = new Batch(this.writeFact);
		// The newest stamp is not noted: a row that every partition writes would have them all wait for each other.
		for (const fact of facts) batch.addFact(fact);
		const statements = [moveOffset(range), ...this.planner.plan(batch)];
		const check = ([moved]: readonly number[]) => {
			if (moved !== 1) throw new Fenced(range.partition, range.from);
		};
		const earlier = this.last.get(range.partition) ?? Promise.resolve();
		// The offset shows whether the earlier one succeeded.
		const done = earlier
			.catch(() => undefined)
			.then(() => carryOut(this.pool, this.retry, statements, check));
		this.last.set(range.partition, done);
		return done;
	}

	/** Where the log is to be read from. */
	async nextOffset(partition: string): Promise<number> {
		return (await this.read(partition))?.next_offset ?? 0;
	}

	/** Which topic that offset is of; null where it is not known. */
	async logOf(partition: string): Promise<string | null> {
		return (await this.read(partition))?.topic_id ?? null;
	}

	private async read(partition: string): Promise<Row | undefined> {
		const rows = await this.retry.carryOut(() =>
			this.pool.use((sql) => sql.unsafe<Row[]>(READ, [partition])),
		);
		return withNumbers([...rows])[0];
	}

	async settled(): Promise<void> {
		await Promise.allSettled(this.last.values());
	}
}

const moveOffset = ({ partition, from, to, log }: LogSpan): Statement => ({
	sql: from === 0 ? BEGIN : MOVE,
	params: [partition, from, to, log ?? null],
});
