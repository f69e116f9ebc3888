import type { SQL, TransactionSQL } from 'bun';
import type { Statement } from '../../store/sql.ts';
import { failureKindOf, OutcomeUnknown, rejectsWrites } from './errors.ts';
import type { Pool } from './pool.ts';
import type { Retry } from './retry.ts';
import { toParam } from './values.ts';

/**
 * Statements in one transaction, carried out exactly once however often it takes.
 *
 * All of them go out in one breath and are answered together. When the connection is lost before the commit
 * was sent, nothing was written, and they are sent again. When it is lost afterwards, PostgreSQL is asked by the
 * transaction's number whether it took place: facts must not be written twice.
 */

const NUMBER = 'SELECT pg_current_xact_id()::text AS transaction';
const STATUS = 'SELECT pg_xact_status($1::xid8) AS status';

/**
 * Looks at how many rows each statement touched, before the commit: what it throws undoes everything. When a
 * statement failed it is shown those before, as what it has to say may be the reason: a worker that was fenced
 * writes messages that the next owner has written already.
 */
export type Check = (counts: readonly number[]) => void;

export function carryOut(
	pool: Pool,
	retry: Retry,
	statements: readonly Statement[],
	check?: Check,
): Promise<void> {
	let unknown: string | null = null;
	return retry.carryOut(async () => {
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
	let number: string | null = null;
	try {
		await pool.begin(async (transaction) => {
			const [first, counts] = await Promise.all([
				transaction.unsafe<{ transaction: string }[]>(NUMBER),
				sendAll(transaction, statements, check),
			]);
			check?.(counts);
			// From here on the commit may have been sent.
			number = first[0]?.transaction ?? null;
		});
	} catch (error) {
		if (number !== null && failureKindOf(error) === 'away') throw new OutcomeUnknown(number, error);
		throw error;
	}
}

/** The first failure is the one that matters: those behind it only say that the transaction is over. */
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
		// A number from the future: the server was restored to a moment before it, and does not have it.
		if (kind === 'refused') return false;
		// Nobody answered the question: the outcome stays unknown, however long that takes.
		throw kind === 'away' ? new OutcomeUnknown(transaction, error) : error;
	}
	// The server has not noticed yet that the connection is gone.
	if (status === 'in progress') throw new OutcomeUnknown(transaction, 'still in progress');
	return status === 'committed';
}
