import type { SQL, TransactionSQL } from 'bun';

/**
 * Tells whether a transaction was committed whose connection was lost during the commit.
 *
 * Each transaction writes its token to the row of a lane, and keeps the lane until its outcome is known. So the row has the token if,
 * and only if, the transaction was committed. The id that PostgreSQL gives a transaction cannot tell: if PostgreSQL crashes before the
 * transaction is on disk, a later transaction may get the same id.
 */

export interface CommitLane {
	readonly number: number;
	/** Key of the lane's row. */
	readonly key: string;
	/** Differs between all transactions of a store. */
	readonly token: number;
}

/**
 * Lanes take turns, so that updates are spread over several rows: while a backup reads, PostgreSQL keeps all versions of a row, and each
 * update has to skip the older ones.
 */
const FEWEST_LANES = 16;

export class CommitLanes {
	/** The lane that was released first is used first. */
	private readonly free = Array.from({ length: FEWEST_LANES }, (_, number) => number);
	private lanes = FEWEST_LANES;
	private newestToken = 0;

	/** The id of the store differs from those of all other processes, and of earlier starts. */
	constructor(private readonly store: string) {}

	take(): CommitLane {
		let number = this.free.shift();
		if (number === undefined) {
			number = this.lanes;
			this.lanes += 1;
		}
		this.newestToken += 1;
		return { number, key: `${this.store}/${number}`, token: this.newestToken };
	}

	/** The outcome of the lane's transaction is known, or will not be asked for any more. */
	release({ number }: CommitLane): void {
		this.free.push(number);
	}
}

const WRITE_TOKEN = `INSERT INTO commit_lanes (lane, token, written_at) VALUES ($1, $2, CURRENT_TIMESTAMP)
	ON CONFLICT (lane) DO UPDATE SET token = excluded.token, written_at = excluded.written_at`;
/**
 * Changes nothing, but waits for a transaction that has written the row and is still in progress. Because it writes, its answer also
 * means that everything before it is on disk, and on synchronous standbys.
 */
const READ_TOKEN = `INSERT INTO commit_lanes (lane, token, written_at) VALUES ($1, 0, CURRENT_TIMESTAMP)
	ON CONFLICT (lane) DO UPDATE SET token = commit_lanes.token RETURNING token`;
/** If the old transaction hangs, a session that waits for it must end: every retry opens another one. */
const WAIT_BRIEFLY = `SET LOCAL lock_timeout = '10s'`;
/** By the clock of the server, because clocks of processes may be wrong. */
const REMOVE_OLD = `DELETE FROM commit_lanes WHERE written_at < CURRENT_TIMESTAMP - INTERVAL '30 days'`;

/** Comes first in its transaction: while an earlier attempt is still in progress, this one waits, and holds no locks yet. */
export async function writeToken(transaction: TransactionSQL, { key, token }: CommitLane): Promise<void> {
	await transaction.unsafe(WRITE_TOKEN, [key, String(token)]);
}

/** Only if the lane's transaction has written its token, and its commit may have been sent. */
export function wasCommitted(pool: SQL, { key, token }: CommitLane): Promise<boolean> {
	return pool.begin(async (transaction) => {
		const [, rows] = await Promise.all([
			transaction.unsafe(WAIT_BRIEFLY),
			transaction.unsafe<{ token: bigint }[]>(READ_TOKEN, [key]),
		]);
		return Number(rows[0]?.token) === token;
	});
}

/** Removes the rows of processes that ended long ago. */
export async function removeOldLanes(sql: SQL): Promise<void> {
	await sql.unsafe(REMOVE_OLD);
}
