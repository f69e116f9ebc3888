import type { SQL, TransactionSQL } from 'bun';
import type { Statement } from '../../store/sql.ts';
import { type CommitRow, type CommitRows, wasCommitted, writeToken } from './commit-rows.ts';
import { failureKindOf, OutcomeUnknown, rejectsWrites } from './errors.ts';
import type { Pool } from './pool.ts';
import type { Retry } from './retry.ts';
import { toParam } from './values.ts';

/**
 * Runs statements in one transaction exactly once, with retries.
 *
 * All statements are pipelined and answered together. If the connection is lost before the commit was sent, nothing was written, and
 * the statements are sent again. If it is lost afterwards, PostgreSQL is asked whether it has the transaction's token, because facts must
 * not be written twice.
 */

/** What all transactions of a store share. */
export interface Writer {
	readonly pool: Pool;
	readonly retry: Retry;
	readonly commitRows: CommitRows;
}

/**
 * Checks before the commit how many rows each statement changed; an error rolls everything back. If a statement fails, the check is
 * called with the counts of the statements before it, because they may show the reason: a fenced worker inserts messages that the
 * next owner has already inserted.
 */
export type Check = (counts: readonly number[]) => void;

export async function runTransaction(
	{ pool, retry, commitRows }: Writer,
	statements: readonly Statement[],
	check?: Check,
): Promise<void> {
	const row = commitRows.take();
	let isUnknown = false;
	const attempt = async (): Promise<void> => {
		try {
			if (isUnknown && (await pool.use((sql) => learnOutcome(sql, row)))) return;
			isUnknown = false;
			await pool.use((sql) => transact(sql, row, statements, check));
		} catch (error) {
			isUnknown = error instanceof OutcomeUnknown;
			if (rejectsWrites(error)) pool.renew();
			throw error;
		}
	};
	try {
		await retry.run(attempt);
	} finally {
		commitRows.release(row);
	}
}

async function transact(
	pool: SQL,
	row: CommitRow,
	statements: readonly Statement[],
	check?: Check,
): Promise<void> {
	let mayBeCommitted = false;
	try {
		await pool.begin(async (transaction) => {
			const [, counts] = await Promise.all([
				writeToken(transaction, row),
				sendAll(transaction, statements, check),
			]);
			check?.(counts);
			// From here on the commit may have been sent.
			mayBeCommitted = true;
		});
	} catch (error) {
		if (mayBeCommitted && failureKindOf(error) === 'unavailable') throw new OutcomeUnknown(error);
		throw error;
	}
}

/** The first failure matters: later ones only say that the transaction is aborted. */
async function sendAll(
	transaction: TransactionSQL,
	statements: readonly Statement[],
	check?: Check,
): Promise<number[]> {
	const sent = statements.map(({ sql, params }) => transaction.unsafe(sql, params.map(toParam)));
	const counts: number[] = [];
	for (const { status, ...result } of await Promise.allSettled(sent)) {
		if (status === 'rejected') {
			if (counts.length > 0) check?.(counts);
			throw (result as PromiseRejectedResult).reason;
		}
		counts.push((result as PromiseFulfilledResult<{ count: number }>).value.count);
	}
	return counts;
}

/** Whatever prevents an answer, the outcome remains unknown: `Retry` asks until it is known. */
function learnOutcome(pool: SQL, row: CommitRow): Promise<boolean> {
	return wasCommitted(pool, row).catch((error: unknown) => {
		throw new OutcomeUnknown(error);
	});
}
