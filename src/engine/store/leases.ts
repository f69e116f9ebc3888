import type { SqlReader } from './sql.ts';
import { type BoundWrite, statement, update } from './write-sql.ts';

/**
 * Leases of the rows of a table: a process holds a row until a wall-clock time, and may extend its lease. The table has the columns `id`,
 * `lease` (the holder, '' for none) and `lease_until`.
 */

export interface Leases {
	/** Takes or extends the lease, unless another process has it. Resolves to the holder then; undefined: there is no such row. */
	take(id: string, holder: string, nowAt: number, untilAt: number): Promise<string | undefined>;
	/** Ends the lease of this holder before its time. */
	release(id: string, holder: string): Promise<void>;
}

export function leasesOf(
	table: 'apps' | 'scheduled_messages',
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): Leases {
	const { take, holder, release } = STATEMENTS[table];
	return {
		async take(id, wanted, nowAt, untilAt) {
			await execute([{ write: take, params: [id, wanted, nowAt, untilAt] }]);
			const [row] = await reader.all<{ lease: string }>(holder, [id]);
			return row?.lease;
		},
		release: (id, held) => execute([{ write: release, params: [id, held] }]),
	};
}

const statementsFor = (table: string) => ({
	take: statement(
		table,
		`UPDATE ${table} SET lease = $2, lease_until = $4 WHERE id = $1 AND (lease = $2 OR lease_until <= $3)`,
	),
	holder: `SELECT lease FROM ${table} WHERE id = $1`,
	release: update(table, { lease: "''", lease_until: '0' }, { id: 1, lease: 2 }),
});

const STATEMENTS = { apps: statementsFor('apps'), scheduled_messages: statementsFor('scheduled_messages') };
