import type { Database, Statement } from 'bun:sqlite';
import { SqliteReader } from '../../src/engine/embedded/sqlite/reader.ts';
import { recordStart } from '../../src/engine/embedded/sqlite/schema.ts';
import { sqliteSearch } from '../../src/engine/embedded/sqlite/search.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import type { Batch } from '../../src/engine/store/batch.ts';
import { toSqlite } from '../../src/engine/store/dialect.ts';
import { GroupCommit } from '../../src/engine/store/group-commit.ts';
import { writeFactForPush } from '../../src/engine/store/push-facts.ts';
import type { Param, Row } from '../../src/engine/store/sql.ts';
import { storeOn } from '../../src/engine/store/store.ts';
import { emptiedDatabase, type Image, imageOf, restoreImage } from './database.ts';
import type { Process, Scheduler } from './scheduler.ts';

/**
 * A disk with one database, which outlives the processes that write to it. It has the real tables and statements, in memory. A
 * transaction commits at one moment between its request and its acknowledgement. If its process dies in between, it has committed
 * completely or not at all.
 */

export interface DiskFaults {
	/** Chance that a commit fails, with nothing written. */
	failedCommit: number;
	/** Longest time until a write reaches the disk, and until its process learns the result; in ms. */
	slowest: number;
	/** The disk is full, and every commit fails, until this time. */
	fullUntil: number;
}

export class Disk {
	readonly faults: DiskFaults = { failedCommit: 0, slowest: 3, fullUntil: 0 };
	readonly database: Database;
	private readonly device: Process;
	private readonly statements: Map<string, Statement<unknown, Param[]>>;

	constructor(
		private readonly scheduler: Scheduler,
		private readonly tally: (fault: string) => void,
	) {
		this.device = scheduler.process('disk');
		({ database: this.database, statements: this.statements } = emptiedDatabase());
	}

	image(): Image {
		return imageOf(this.database);
	}

	restore(image: Image): void {
		restoreImage(this.database, image);
	}

	/** Runs the statements of `run` in one transaction, now. */
	transact(run: () => void): void {
		this.database.run('BEGIN IMMEDIATE');
		try {
			run();
			this.database.run('COMMIT');
		} catch (error) {
			if (this.database.inTransaction) this.database.run('ROLLBACK');
			throw error;
		}
	}

	writeRows({ writes, params }: Pick<Batch, 'writes' | 'params'>): void {
		for (const [index, write] of writes.entries())
			if (write !== null) this.run(write.text, params[index] as Param[]);
	}

	run(text: string, params: readonly Param[]): number {
		return this.prepared(text).run(...params).changes;
	}

	all(text: string, params: readonly Param[]): Row[] {
		return this.prepared(text).all(...params) as Row[];
	}

	private prepared(text: string): Statement<unknown, Param[]> {
		let statement = this.statements.get(text);
		if (!statement) {
			statement = this.database.prepare<unknown, Param[]>(toSqlite(text));
			this.statements.set(text, statement);
		}
		return statement;
	}

	/**
	 * One write of a process: it is executed, then the process learns the result. `act` throws if the database rejects the write. If the
	 * process dies first, the write is executed at that moment or never, so that its successor finds no write in progress.
	 */
	write(process: Process, label: string, act: () => void): Promise<void> {
		const { scheduler, faults } = this;
		return new Promise((resolve, reject) => {
			let isOver = false;
			const execute = (): void => {
				if (isOver) return;
				isOver = true;
				process.onDeath.delete(died);
				let error: unknown = null;
				if (scheduler.now < faults.fullUntil) error = new Error('database or disk is full');
				else if (scheduler.random.chance(faults.failedCommit)) error = new Error('disk I/O error');
				if (error) this.tally('failed commit');
				else
					try {
						act();
					} catch (refused) {
						error = refused;
					}
				scheduler.reached(error ? 'failed commit' : 'committed');
				scheduler.within(process, () => scheduler.note(`${label}${error ? ` failed: ${error}` : ''}`));
				scheduler.at(process, scheduler.latency(0.1, faults.slowest), '', () =>
					error ? reject(error) : resolve(),
				);
			};
			const died = (): void => {
				if (scheduler.random.chance(0.5)) execute();
				isOver = true;
			};
			process.onDeath.add(died);
			scheduler.at(this.device, scheduler.latency(0.2, faults.slowest), '', execute);
		});
	}

	/** The store of the embedded engine, on this disk. */
	openStore(process: Process, onCommitFailure: (error: Error) => void, pushes: boolean): Store {
		const newest = recordStart(this.database, (last) => Math.max(Date.now() * 1000, last + 1));
		const reader = new SqliteReader(this.database);
		const commits = new GroupCommit(
			(batch) =>
				this.write(process, `commit of ${batch.size}`, () => this.transact(() => this.writeRows(batch))),
			onCommitFailure,
			newest,
			pushes ? writeFactForPush : undefined,
		);
		return storeOn(
			reader,
			commits,
			sqliteSearch(reader),
			async () => undefined,
			() => commits.durable(),
		);
	}

	/** The next history uses the same database: rolls back an open transaction. */
	close(): void {
		if (this.database.inTransaction) this.database.run('ROLLBACK');
	}
}
