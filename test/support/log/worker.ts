import { Fenced, type PostgresStore } from '../../../src/engine/cluster/postgres/open.ts';
import type { CommandLog, LoggedCommand } from '../../../src/engine/ports/log.ts';
import { BEGIN, conversation, message, posted } from '../store/facts.ts';

/** A minimal worker: each command becomes a message, written in one transaction with the offset of the log. */

export interface TestWorker {
	readonly owned: Set<string>;
	/** The committed spans, in order. */
	readonly spans: { readonly partition: string; readonly from: number; readonly to: number }[];
	/** Every revoked partition, once per revocation. */
	readonly revoked: string[];
	fenced: number;
	/** Awaited before each commit. */
	hold: Promise<void> | null;
	/** Number of batches that have started. */
	begun: number;
}

export function startWorker(log: CommandLog, store: PostgresStore): TestWorker {
	const positions = new Map<string, number>();
	const worker: TestWorker = { owned: new Set(), spans: [], revoked: [], fenced: 0, hold: null, begun: 0 };
	const handle = async (batch: readonly LoggedCommand[]): Promise<void> => {
		const partition = batch[0]!.partition;
		const span = { partition, from: positions.get(partition)!, to: batch.at(-1)!.offset + 1 };
		const facts = batch.map(({ command, replyTo }) =>
			posted(conversation(command.conversation), message(command.conversation, BEGIN + replyTo.request)),
		);
		worker.begun += 1;
		await worker.hold;
		try {
			await store.commitWithProgress(facts, span);
		} catch (error) {
			if (error instanceof Fenced) worker.fenced += 1;
			throw error;
		}
		positions.set(partition, span.to);
		worker.spans.push(span);
	};
	log.consume(handle, {
		async progress(partition) {
			const offset = await store.nextOffset(partition);
			positions.set(partition, offset);
			return offset;
		},
		onAssigned: (partitions) => {
			for (const each of partitions) worker.owned.add(each);
		},
		onRevoked: (partitions) => {
			for (const each of partitions) worker.owned.delete(each);
			worker.revoked.push(...partitions);
		},
	});
	return worker;
}

/** Throws unless the spans of all workers cover each partition from its beginning without gap or overlap. Returns the number of records. */
export function covered(workers: readonly Pick<TestWorker, 'spans'>[]): number {
	const byPartition = Map.groupBy(
		workers.flatMap(({ spans }) => spans),
		({ partition }) => partition,
	);
	let total = 0;
	for (const [partition, spans] of byPartition) {
		let at = 0;
		for (const { from, to } of spans.sort((a, b) => a.from - b.from)) {
			if (from !== at) throw new Error(`${partition}: committed up to ${at}, then from ${from}`);
			at = to;
		}
		total += at;
	}
	return total;
}
