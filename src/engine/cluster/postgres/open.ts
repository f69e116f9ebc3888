import type { PartitionLedger, Store } from '../../ports/store.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { SchemaTooNew } from '../../store/migrations.ts';
import { writeFactForPush } from '../../store/push-facts.ts';
import { storeOn } from '../../store/store.ts';
import { CommitRows, removeOldRows } from './commit-rows.ts';
import { type ConnectionOptions, connect, DEFAULT_SCHEMA } from './connections.ts';
import { unusable } from './errors.ts';
import { columnTypes, Planner } from './plan.ts';
import { PartitionProgress } from './progress.ts';
import { PostgresReader } from './reader.ts';
import { Retry, type RetryHooks } from './retry.ts';
import { checkServer, migrate, newestStamp, recordStart } from './schema.ts';
import { postgresSearch } from './search.ts';
import { runTransaction } from './transaction.ts';

export { Fenced, PostgresUnusable } from './errors.ts';

/** The store of a cluster: one PostgreSQL, shared by all processes. See docs/postgres.md. */

export interface PostgresStoreOptions extends ConnectionOptions, RetryHooks {
	/**
	 * The stamp of this start, later than the newest one in the database. Null: the start is not recorded, because
	 * other processes continue (active users stay active).
	 */
	readonly startStamp?: ((newest: number) => number) | null;
	/** A commit failed permanently and nothing of it is durable: changes applied in memory are invalid. */
	readonly onCommitFailure?: (error: Error) => void;
	/** Hooks for reads; the hooks in these options themselves are for writes. */
	readonly reading?: RetryHooks;
	/** Whether posts and marks are queued for push. */
	readonly push?: boolean;
	/** How long `close` waits for an unavailable database before it fails the remaining writes. */
	readonly closeWithinMs?: number;
	/** For tests. */
	readonly backOffMs?: readonly number[];
}

export interface PostgresStore extends Store, PartitionLedger {
	/** Checks whether the database accepts writes; changes no facts. */
	probeWrites(): Promise<void>;
	/** Resolves when the server has answered; rejects if it does not within 3 s. For workers. */
	probe(): Promise<void>;
	/** The server is unreachable: replaces connections that wait for it. */
	abandonConnections(): void;
	/** The server is reachable again: retries waiting work now. */
	retryNow(): void;
}

const CLOSE_WITHIN_MS = 10_000;
/** For writes that a request waits for: shorter than all other timeouts of the request. */
const ANSWERED_WITHIN_MS = 25_000;
const nowMicros = (): number => Date.now() * 1000;
const defaultStart = (newest: number): number => Math.max(nowMicros(), newest + 1);

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
	const schema = options.schema ?? DEFAULT_SCHEMA;
	const connections = connect(options);
	try {
		const { reads, writes, probe } = connections;
		const { newest, types } = await writes.useWithoutLimit(async (sql) => {
			await checkServer(sql);
			await migrate(sql, schema, nowMicros());
			await removeOldRows(sql);
			const { startStamp = defaultStart } = options;
			const newest = startStamp ? await recordStart(sql, startStamp) : await newestStamp(sql);
			return { newest, types: await columnTypes(sql, schema) };
		});
		const planner = new Planner(types);
		const writeFact = options.push ? writeFactForPush : undefined;
		const retry = new Retry(options, options.backOffMs);
		const retryForRequests = new Retry(options, options.backOffMs, ANSWERED_WITHIN_MS);
		const retryOfReads = new Retry(options.reading ?? {}, options.backOffMs);
		const writer = { pool: writes, retry, commitRows: new CommitRows(crypto.randomUUID()) };
		const writerForRequests = { ...writer, retry: retryForRequests };
		const commits = new GroupCommit(
			(batch) => runTransaction(writerForRequests, planner.plan(batch)),
			options.onCommitFailure ?? (() => undefined),
			newest,
			writeFact,
		);
		const partitions = new PartitionProgress(writer, retryOfReads, planner, writeFact);
		let probingWrites: Promise<void> | null = null;
		let closing: Promise<void> | null = null;
		const retries = [retry, retryForRequests, retryOfReads];
		const stop = (): void => {
			for (const one of retries) one.stop();
		};
		const close = async (): Promise<void> => {
			const deadline = setTimeout(() => stop(), options.closeWithinMs ?? CLOSE_WITHIN_MS);
			await Promise.all([commits.close(), partitions.idle()]);
			clearTimeout(deadline);
			await connections.close();
		};
		const reader = new PostgresReader(reads, options.reading);
		return {
			...storeOn(reader, commits, postgresSearch(reader), () => {
				closing ??= close();
				return closing;
			}),
			commitWithProgress: (facts, span) => partitions.commit(facts, span),
			nextOffset: (partition) => partitions.nextOffset(partition),
			nextOffsets: () => partitions.nextOffsets(),
			logIdOf: (partition) => partitions.logIdOf(partition),
			probeWrites: () => {
				// Without facts, the transaction writes only its token.
				probingWrites ??= runTransaction(writerForRequests, []).finally(() => {
					probingWrites = null;
				});
				return probingWrites;
			},
			probe: async () => void (await probe.use((sql) => sql.unsafe('SELECT 1'))),
			abandonConnections: () => {
				reads.abandon();
				writes.abandon();
			},
			retryNow: () => {
				for (const one of retries) one.wake();
			},
		};
	} catch (error) {
		await connections.close();
		throw error instanceof SchemaTooNew ? error : await unusable(options.url, error);
	}
}
