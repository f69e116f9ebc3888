import type { SQL, TransactionSQL } from 'bun';
import type { Statement } from '../../store/sql.ts';
import { failureKindOf, OutcomeUnknown, rejectsWrites } from './errors.ts';
import type { Pool } from './pool.ts';
import type { Retry } from './retry.ts';
import { toParam } from './values.ts';

/**
 * Runs statements in one transaction exactly once, with retries.
 *
 * All statements are pipelined and answered together. If the connection is lost before the commit was sent, nothing was written, and
 * the statements are sent again. If it is lost afterwards, PostgreSQL is asked by the transaction's id whether it was committed, because
 * facts must not be written twice.
 */

const TRANSACTION_ID = 'SELECT pg_current_xact_id()::text AS transaction';
const STATUS = 'SELECT pg_xact_status($1::xid8) AS status';

/**
 * Checks before the commit how many rows each statement changed; an error rolls everything back. If a statement fails, the check is
 * called with the counts of the statements before it, because they may show the reason: a fenced worker inserts messages that the
 * next owner has already inserted.
 */
export type Check = (counts: readonly number[]) => void;

export function runTransaction(
	pool: Pool,
	retry: Retry,
	statements: readonly Statement[],
	check?: Check,
): Promise<void> {
	let unknown: string | null = null;
	return retry.run(async () => {
		if (unknown !== null && (await pool.use((sql) => wasCommitted(sql, unknown as string)))) return;
		unknown = null;
		try {
			await pool.use((sql) => transact(sql, statements, check));
		} catch (error) {
			if (error instanceof OutcomeUnknown) unknown = error.transaction;
			if (rejectsWrites(error)) pool.renew();
			throw error;
		}
	});
}

async function transact(pool: SQL, statements: readonly Statement[], check?: Check): Promise<void> {
	let id: string | null = null;
	try {
		await pool.begin(async (transaction) => {
			const [first, counts] = await Promise.all([
				transaction.unsafe<{ transaction: string }[]>(TRANSACTION_ID),
				sendAll(transaction, statements, check),
			]);
			check?.(counts);
			// From here on the commit may have been sent.
			id = first[0]?.transaction ?? null;
		});
	} catch (error) {
		if (id !== null && failureKindOf(error) === 'unavailable') throw new OutcomeUnknown(id, error);
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

async function wasCommitted(pool: SQL, transaction: string): Promise<boolean> {
	let status: string | null | undefined;
	try {
		const [row] = await pool.unsafe<{ status: string | null }[]>(STATUS, [transaction]);
		status = row?.status;
	} catch (error) {
		const kind = failureKindOf(error);
		// An id from the future: the server was restored to an earlier state, and does not have the transaction.
		if (kind === 'rejected') return false;
		// No answer: the outcome remains unknown, however long that takes.
		throw kind === 'unavailable' ? new OutcomeUnknown(transaction, error) : error;
	}
	// The server has not noticed yet that the connection is lost.
	if (status === 'in progress') throw new OutcomeUnknown(transaction, 'still in progress');
	return status === 'committed';
}
