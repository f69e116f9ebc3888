import { CommitRows } from '../../../src/engine/cluster/postgres/commit-rows.ts';
import type { PostgresStore } from '../../../src/engine/cluster/postgres/open.ts';
import type { Planner } from '../../../src/engine/cluster/postgres/plan.ts';
import { PartitionProgress } from '../../../src/engine/cluster/postgres/progress.ts';
import { Retry } from '../../../src/engine/cluster/postgres/retry.ts';
import { runTransaction } from '../../../src/engine/cluster/postgres/transaction.ts';
import { sqliteSearch } from '../../../src/engine/embedded/sqlite/search.ts';
import { GroupCommit } from '../../../src/engine/store/group-commit.ts';
import { writeFactForPush } from '../../../src/engine/store/push-facts.ts';
import type { Param, Row, SqlReader, Statement } from '../../../src/engine/store/sql.ts';
import { storeOn } from '../../../src/engine/store/store.ts';
import { Rejection } from '../../../src/model/errors.ts';
import { Disk } from '../disk.ts';
import type { Process, Scheduler } from '../scheduler.ts';

/**
 * A simulated PostgreSQL: the real tables and statements on SQLite, with the real retries and the real fence of partitions, over
 * connections that can be lost at any moment. One transaction runs at a time, and no read happens during a transaction.
 */

export interface PostgresFaults {
	slowest: number;
	/** Chance that a transaction loses its connection before its commit is sent, and after. */
	lostBefore: number;
	lostAfter: number;
	/** Chance that a read fails. */
	failedRead: number;
	/** No transaction begins before this time. */
	stalledUntil: number;
}

class ConnectionLost extends Error {
	readonly code = 'ERR_POSTGRES_CONNECTION_CLOSED';
}

/** Marks a number, because all parameters are sent as texts. */
const NUMBER = '\u0001';
const encode = (value: Param): Param => (typeof value === 'number' ? `${NUMBER}${value}` : value);
const decode = (value: unknown): Param =>
	typeof value === 'string' && value.startsWith(NUMBER) ? Number(value.slice(1)) : (value as Param);

/** One statement per row, with the same result as the few statements of the real planner. */
const planner = {
	plan: ({ writes, params }: Parameters<Planner['plan']>[0]): Statement[] =>
		writes.flatMap((write, index) =>
			write === null ? [] : [{ sql: write.text, params: (params[index] as readonly Param[]).map(encode) }],
		),
};

/** The query for the read state of a user. */
const OF_USER = /FROM members WHERE user_id/;

interface Result extends Array<unknown> {
	count: number;
}

export class SimulatedPostgres {
	readonly faults: PostgresFaults = {
		slowest: 2,
		lostBefore: 0,
		lostAfter: 0,
		failedRead: 0,
		stalledUntil: 0,
	};
	readonly process: Process;
	readonly disk: Disk;
	/** Called once, after a process has read the state of a user and before it loads that state into Redis. */
	afterLoad: ((process: Process, user: string) => void) | null = null;
	private readonly waiting: (() => void)[] = [];
	private isHeld = false;
	private transactions = 0;

	constructor(
		readonly scheduler: Scheduler,
		private readonly tally: (fault: string) => void,
	) {
		this.process = scheduler.process('postgres');
		this.disk = new Disk(scheduler, tally);
	}

	storeOf(process: Process, pushes: boolean): PostgresStore {
		const writeFact = pushes ? writeFactForPush : undefined;
		const pool = {
			use: <T>(work: (sql: unknown) => Promise<T>) => work(this.connectionOf(process)),
			renew: () => undefined,
		};
		const commitRows = new CommitRows(crypto.randomUUID());
		const writer = { pool: pool as never, retry: new Retry({}), commitRows };
		const writerForRequests = { ...writer, retry: new Retry({}, undefined, 25_000) };
		const commits = new GroupCommit(
			(batch) => runTransaction(writerForRequests, planner.plan(batch)),
			() => undefined,
			0,
			writeFact,
		);
		const reader = this.readerOf(process);
		const partitions = new PartitionProgress(writer, writer.retry, planner as never, writeFact);
		return {
			...storeOn(reader, commits, sqliteSearch(reader), async () => undefined),
			commitWithProgress: (facts, span) => partitions.commit(facts, span),
			nextOffset: (partition) => partitions.nextOffset(partition),
			nextOffsets: () => partitions.nextOffsets(),
			logIdOf: (partition) => partitions.logIdOf(partition),
			probeWrites: async () => undefined,
			probe: async () => undefined,
			abandonConnections: () => undefined,
			retryNow: () => undefined,
		};
	}

	private delay(): number {
		return this.scheduler.latency(0.1, this.faults.slowest);
	}

	/** Runs `act` at the server when no transaction runs; resolves to its result. */
	private ask<T>(process: Process, act: () => T): Promise<T> {
		const { scheduler } = this;
		return new Promise((resolve, reject) => {
			scheduler.at(this.process, this.delay(), '', () =>
				this.whenFree(() => {
					let settle: () => void;
					try {
						const value = act();
						settle = () => resolve(value);
					} catch (error) {
						settle = () => reject(error);
					}
					scheduler.at(process, this.delay(), '', settle);
				}),
			);
		});
	}

	private whenFree(act: () => void): void {
		if (this.isHeld) this.waiting.push(act);
		else act();
	}

	private release(): void {
		this.isHeld = false;
		while (!this.isHeld) {
			const next = this.waiting.shift();
			if (!next) return;
			next();
		}
	}

	private query(sql: string, params: readonly Param[]): Row[] {
		return this.disk.all(sql, params);
	}

	private execute(sql: string, params: readonly Param[]): Result {
		if (!sql.includes(' RETURNING ')) return Object.assign([], { count: this.disk.run(sql, params) });
		const rows = this.query(sql, params);
		return Object.assign(rows, { count: rows.length });
	}

	private readerOf(process: Process): SqlReader {
		const read = async <T>(act: () => T): Promise<T> => {
			if (this.scheduler.random.chance(this.faults.failedRead)) {
				this.tally('failed read');
				await this.ask(process, () => undefined);
				throw new Rejection('service_unavailable', 'the database cannot be read');
			}
			return this.ask(process, act);
		};
		return {
			all: <T>(sql: string, params: readonly Param[]) => read(() => this.query(sql, params) as T[]),
			together: async (queries) => {
				const rows = await read(() => queries.map(({ sql, params }) => this.query(sql, params)));
				const { afterLoad } = this;
				const ofUser = queries.find(({ sql }) => OF_USER.test(sql));
				if (!afterLoad || !ofUser) return rows;
				this.afterLoad = null;
				afterLoad(process, String(ofUser.params[0]));
				// If the process was paused, it continues here when it resumes.
				await new Promise((resolve) => this.scheduler.at(process, 0, '', () => resolve(null)));
				return rows;
			},
			pause: () => new Promise((resolve) => setImmediate(resolve)),
		};
	}

	/** The part of Bun's interface that `transaction.ts`, `commit-rows.ts` and `progress.ts` use. */
	private connectionOf(process: Process) {
		return {
			unsafe: (sql: string, params: readonly Param[] = []) =>
				this.ask(process, () => this.query(sql, params)),
			begin: <T>(work: (transaction: unknown) => Promise<T>) => this.transact(process, work),
		};
	}

	private async transact<T>(process: Process, work: (transaction: unknown) => Promise<T>): Promise<T> {
		const { scheduler, faults } = this;
		this.transactions += 1;
		const number = String(this.transactions);
		const state = { isOver: false, isCommitSent: false };
		const end = (isCommitted: boolean): void => {
			if (state.isOver) return;
			state.isOver = true;
			process.onDeath.delete(died);
			this.disk.database.run(isCommitted ? 'COMMIT' : 'ROLLBACK');
			this.release();
		};
		/** A commit that the process sent before it died may have arrived. */
		const died = (): void => end(state.isCommitSent && scheduler.random.chance(0.5));
		const stallMs = Math.max(0, faults.stalledUntil - scheduler.now);
		await new Promise<void>((resolve) => {
			scheduler.at(this.process, stallMs + this.delay(), '', () =>
				this.whenFree(() => {
					// The connection ended with the process, so this transaction would never end.
					if (!process.alive) return;
					this.isHeld = true;
					this.disk.database.run('BEGIN IMMEDIATE');
					process.onDeath.add(died);
					scheduler.at(process, this.delay(), '', resolve);
				}),
			);
		});
		const lose = (): never => {
			this.tally('lost transaction');
			throw new ConnectionLost('the connection was closed');
		};
		const transaction = {
			unsafe: (sql: string, params: readonly Param[] = []) => {
				// No statement waits for a lock here.
				if (sql.startsWith('SET LOCAL lock_timeout')) return Promise.resolve([]);
				return new Promise<Result>((resolve, reject) => {
					scheduler.at(this.process, 0, '', () => {
						if (state.isOver) return;
						try {
							const result = this.execute(sql, params.map(decode));
							scheduler.at(process, 0, '', () => resolve(result));
						} catch (error) {
							scheduler.at(process, 0, '', () =>
								reject(Object.assign(new Error((error as Error).message), { errno: '23505' })),
							);
						}
					});
				});
			},
		};
		let result: T;
		try {
			result = await work(transaction);
			if (scheduler.random.chance(faults.lostBefore)) lose();
		} catch (error) {
			end(false);
			throw error;
		}
		state.isCommitSent = true;
		const isLost = scheduler.random.chance(faults.lostAfter);
		await new Promise<void>((resolve, reject) => {
			const isCommitted = !isLost || scheduler.random.chance(0.5);
			scheduler.at(this.process, this.delay(), '', () => {
				end(isCommitted);
				scheduler.within(process, () =>
					scheduler.note(`transaction ${number}${isCommitted ? '' : ' rolled back'}`),
				);
				scheduler.reached(isCommitted ? 'transaction committed' : 'lost transaction at its commit');
				scheduler.at(process, this.delay(), '', () => {
					if (!isLost) resolve();
					else {
						this.tally('lost commit');
						reject(new ConnectionLost('the connection was closed'));
					}
				});
			});
		});
		return result;
	}
}

const SILENT_AFTER_MS = 15_000;

/** Session locks that workers share: the death of a process releases its locks. */
export class SimulatedLocks {
	/** The processes that share the lock, with the time of their last request for it. */
	private readonly shared = new Map<Process, number>();
	private exclusive: Process | null = null;
	private elected: Process | null = null;

	constructor(
		private readonly postgres: SimulatedPostgres,
		private readonly scheduler: Scheduler,
	) {}

	of(process: Process) {
		const ask = <T>(act: () => T): Promise<T> =>
			new Promise((resolve) => {
				this.scheduler.at(this.postgres.process, 0.5, '', () => {
					const value = act();
					this.scheduler.at(process, 0.5, '', () => resolve(value));
				});
			});
		const release = (): void => {
			this.shared.delete(process);
			if (this.exclusive === process) this.exclusive = null;
			if (this.elected === process) this.elected = null;
		};
		process.onDeath.add(release);
		const tryShare = (): Promise<boolean> =>
			ask(() => {
				if (this.exclusive && this.exclusive !== process) return false;
				this.shared.set(process, this.scheduler.now);
				return true;
			});
		return {
			share: async (): Promise<void> => {
				while (!(await tryShare())) await Bun.sleep(100);
			},
			tryShare,
			// Connections last as long as their process.
			isLost: async () => false,
			hasActiveHolder: () =>
				ask(() => [...this.shared.values()].some((ms) => ms > this.scheduler.now - SILENT_AFTER_MS)),
			tryExclusive: () =>
				ask(() => {
					const others =
						[...this.shared.keys()].some((one) => one !== process) ||
						(this.exclusive && this.exclusive !== process);
					if (!others) this.exclusive = process;
					return !others;
				}),
			tryElect: () =>
				ask(() => {
					this.elected ??= process;
					return this.elected === process;
				}),
			isElected: () => ask(() => this.elected === process),
			release: () => ask(release),
			close: () => ask(release),
		};
	}
}
