import type { SQL, TransactionSQL } from 'bun';

/**
 * Finds out whether a transaction was committed whose connection was lost during the commit.
 *
 * Each transaction writes its token to a row of its own, and keeps the row until its outcome is known. So the row has the token if,
 * and only if, the transaction was committed. The id that PostgreSQL gives a transaction is no proof: if PostgreSQL crashes before the
 * transaction is on disk, a later transaction may get the same id.
 */

export interface CommitRow {
	readonly number: number;
	/** Key of the row. */
	readonly key: string;
	/** Differs between all transactions of a store. */
	readonly token: number;
}

/**
 * Transactions use the rows in turn, so that updates are spread: while a backup reads, PostgreSQL keeps all versions of a row, and each
 * update has to skip the older ones.
 */
const FEWEST_ROWS = 16;

export class CommitRows {
	/** The row that was released first is used first. */
	private readonly free = Array.from({ length: FEWEST_ROWS }, (_, number) => number);
	private rows = FEWEST_ROWS;
	private newestToken = 0;

	/** The id of the store differs from those of all other processes, and of earlier starts. */
	constructor(private readonly store: string) {}

	take(): CommitRow {
		let number = this.free.shift();
		if (number === undefined) {
			number = this.rows;
			this.rows += 1;
		}
		this.newestToken += 1;
		return { number, key: `${this.store}/${number}`, token: this.newestToken };
	}

	/** The outcome of the row's transaction is known, or will not be asked for any more. */
	release({ number }: CommitRow): void {
		this.free.push(number);
	}
}

const WRITE_TOKEN = `INSERT INTO commit_rows (id, token, written_at) VALUES ($1, $2, CURRENT_TIMESTAMP)
	ON CONFLICT (id) DO UPDATE SET token = excluded.token, written_at = excluded.written_at`;
/**
 * Keeps the token, but waits for a transaction that has written the row and is still in progress. Because it writes, its answer also
 * means that everything before it is on disk, and on synchronous standbys.
 */
const READ_TOKEN = `INSERT INTO commit_rows (id, token, written_at) VALUES ($1, 0, CURRENT_TIMESTAMP)
	ON CONFLICT (id) DO UPDATE SET token = commit_rows.token RETURNING token`;
/** If the old transaction hangs, a session that waits for it must end: every retry opens another one. */
const WAIT_BRIEFLY = `SET LOCAL lock_timeout = '10s'`;
/** By the clock of the server, because clocks of processes may be wrong. */
const REMOVE_OLD = `DELETE FROM commit_rows WHERE written_at < CURRENT_TIMESTAMP - INTERVAL '30 days'`;

/** Comes first in its transaction: while an earlier attempt is still in progress, this one waits, and holds no locks yet. */
export async function writeToken(transaction: TransactionSQL, { key, token }: CommitRow): Promise<void> {
	await transaction.unsafe(WRITE_TOKEN, [key, String(token)]);
}

/** Call it only if the row's transaction has written its token, and its commit may have been sent. */
export function wasCommitted(pool: SQL, { key, token }: CommitRow): Promise<boolean> {
	return pool.begin(async (transaction) => {
		const [, rows] = await Promise.all([
			transaction.unsafe(WAIT_BRIEFLY),
			transaction.unsafe<{ token: bigint }[]>(READ_TOKEN, [key]),
		]);
		return Number(rows[0]?.token) === token;
	});
}

/** Removes the rows of processes that ended long ago. */
export async function removeOldRows(sql: SQL): Promise<void> {
	await sql.unsafe(REMOVE_OLD);
}
