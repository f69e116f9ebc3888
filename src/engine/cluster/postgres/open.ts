import type { PartitionLedger, Store } from '../../ports/store.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { SchemaTooNew } from '../../store/migrations.ts';
import { writeFactForPush } from '../../store/push-facts.ts';
import { storeOn } from '../../store/store.ts';
import { type ConnectionOptions, connect, DEFAULT_SCHEMA } from './connections.ts';
import { unusable } from './errors.ts';
import { columnTypes, Planner } from './plan.ts';
import { Progress } from './progress.ts';
import { PostgresReader } from './reader.ts';
import { Retry, type Watch } from './retry.ts';
import { checkServer, migrate, newestStamp, recordStart } from './schema.ts';
import { postgresSearch } from './search.ts';
import { carryOut } from './transaction.ts';

export { Fenced, PostgresUnusable } from './errors.ts';

/** The cluster's store: one PostgreSQL, shared by any number of processes. See docs/postgres.md. */

export interface PostgresStoreOptions extends ConnectionOptions, Watch {
	/**
	 * The stamp of this start, later than the newest one in the database. Null: a start means nothing, because
	 * others continue (active users stay active).
	 */
	readonly startStamp?: ((newest: number) => number) | null;
	/** A commit failed for good and nothing of it is on disk: what memory has taken in of it is wrong. */
	readonly onCommitFailure?: (error: Error) => void;
	/** Of reads, which are not tried again for long; what extends these options is of writes. */
	readonly reading?: Watch;
	/** Posts and marks are noted for pushing. */
	readonly push?: boolean;
	/** How long closing waits for an unavailable database, before unwritten work fails. */
	readonly closeWithinMs?: number;
	/** For tests. */
	readonly backOffMs?: readonly number[];
}

export interface PostgresStore extends Store, PartitionLedger {
	/** Checks whether the database accepts writes; changes nothing. */
	askWrites(): Promise<void>;
	/** Resolves when the server has answered; rejects where it does not within 3 s. For workers. */
	probe(): Promise<void>;
	/** The server is out of reach: connections that wait for it are replaced. */
	abandonConnections(): void;
	/** It is in reach again: what waits to be tried again is tried now. */
	retryNow(): void;
}

/** Rejected where writes are. */
const NO_CHANGE = 'UPDATE partition_progress SET next_offset = next_offset WHERE false';

const CLOSE_WITHIN_MS = 10_000;
/** Of what a request waits for: sooner than anything else that may be waited for is given up. */
const ANSWERED_WITHIN_MS = 25_000;
const nowMicros = (): number => Date.now() * 1000;
const defaultStart = (newest: number): number => Math.max(nowMicros(), newest + 1);

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
	const schema = options.schema ?? DEFAULT_SCHEMA;
	const connections = connect(options);
	try {
		const { reads, writes, probe } = connections;
		const { newest, types } = await writes.useAtLeisure(async (sql) => {
			await checkServer(sql);
			await migrate(sql, schema, nowMicros());
			const { startStamp = defaultStart } = options;
			const newest = startStamp ? await recordStart(sql, startStamp) : await newestStamp(sql);
			return { newest, types: await columnTypes(sql, schema) };
		});
		const planner = new Planner(types);
		const writeFact = options.push ? writeFactForPush : undefined;
		const retry = new Retry(options, options.backOffMs);
		const impatient = new Retry(options, options.backOffMs, ANSWERED_WITHIN_MS);
		const commits = new GroupCommit(
			(batch) => carryOut(writes, impatient, planner.plan(batch)),
			options.onCommitFailure ?? (() => undefined),
			newest,
			writeFact,
		);
		const partitions = new Progress(writes, retry, planner, writeFact);
		let asking: Promise<void> | null = null;
		let closing: Promise<void> | null = null;
		const stop = (): void => {
			retry.stop();
			impatient.stop();
		};
		const close = async (): Promise<void> => {
			const patience = setTimeout(() => stop(), options.closeWithinMs ?? CLOSE_WITHIN_MS);
			await Promise.all([commits.close(), partitions.settled()]);
			clearTimeout(patience);
			await connections.close();
		};
		const reader = new PostgresReader(reads, options.reading);
		return {
			...storeOn(reader, commits, postgresSearch(reader, reads), () => {
				closing ??= close();
				return closing;
			}),
			commitWithProgress: (facts, range) => partitions.commit(facts, range),
			nextOffset: (partition) => partitions.nextOffset(partition),
			logOf: (partition) => partitions.logOf(partition),
			askWrites: () => {
				asking ??= carryOut(writes, impatient, [{ sql: NO_CHANGE, params: [] }]).finally(() => {
					asking = null;
				});
				return asking;
			},
			probe: async () => void (await probe.use((sql) => sql.unsafe('SELECT 1'))),
			abandonConnections: () => {
				reads.abandon();
				writes.abandon();
			},
			retryNow: () => {
				retry.wake();
				impatient.wake();
			},
		};
	} catch (error) {
		await connections.close();
		throw error instanceof SchemaTooNew ? error : await unusable(options.url, error);
	}
}
