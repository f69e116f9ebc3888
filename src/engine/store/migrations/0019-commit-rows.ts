/**
 * The token of the newest transaction of each row: `src/engine/cluster/postgres/commit-rows.ts` says why. Only PostgreSQL needs it.
 * Pages are mostly free, so that the next version of a row stays on its page and no index is updated.
 */
export const commitRows: readonly string[] = [
	`CREATE TABLE commit_rows (
		id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
		token BIGINT NOT NULL,
		written_at TIMESTAMPTZ NOT NULL
	) WITH (fillfactor = 20)`,
];
