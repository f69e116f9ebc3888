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
 * A disk with one database on it, which outlives the processes that write to it. The real tables and statements, in memory:
 * a transaction takes place as a whole at one moment, somewhere between being handed over and being acknowledged. Of a process
 * that dies in between, it took place or it did not.
 */

export interface DiskFaults {
	/** Chance that a commit fails, with nothing written. */
	failedCommit: number;
	/** Longest time for each of: reaching the disk, being told so; ms. */
	slowest: number;
	/** Every commit fails until then. */
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

	/** Runs these as one transaction, now. */
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
	 * One write of a process: it takes place, then the process learns of it. `act` throws where it is refused. Of a process that
	 * dies, what it handed over takes place at once or never: its successor finds the disk at rest.
	 */
	write(process: Process, label: string, act: () => void): Promise<void> {
		const { scheduler, faults } = this;
		return new Promise((resolve, reject) => {
			let isOver = false;
			const carryOut = (): void => {
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
				if (scheduler.random.chance(0.5)) carryOut();
				isOver = true;
			};
			process.onDeath.add(died);
			scheduler.at(this.device, scheduler.latency(0.2, faults.slowest), '', carryOut);
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

	/** The database is kept for the next history. What a transaction left open must not be in it. */
	close(): void {
		if (this.database.inTransaction) this.database.run('ROLLBACK');
	}
}
