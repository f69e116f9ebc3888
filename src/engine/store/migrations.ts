import { initial, initialOnPostgres } from './migrations/0001-initial.ts';
import { changes } from './migrations/0002-changes.ts';
import { earlyMarks } from './migrations/0003-early-marks.ts';
import { push } from './migrations/0004-push.ts';
import { mentions } from './migrations/0005-mentions.ts';
import { accounts } from './migrations/0006-accounts.ts';
import { sends } from './migrations/0007-sends.ts';
import { topicIds } from './migrations/0008-topic-ids.ts';
import { profiles } from './migrations/0009-profiles.ts';
import { invites } from './migrations/0010-invites.ts';
import { reactions } from './migrations/0011-reactions.ts';
import { apps } from './migrations/0012-apps.ts';
import { searchOnPostgres, searchOnSqlite } from './migrations/0013-search.ts';
import { pins } from './migrations/0014-pins.ts';
import { scheduled } from './migrations/0015-scheduled.ts';
import { people } from './migrations/0016-people.ts';
import { workspaceEvents } from './migrations/0017-workspace-events.ts';
import { files } from './migrations/0018-files.ts';
import { commitRows } from './migrations/0019-commit-rows.ts';
import { addedEvents } from './migrations/0020-added-events.ts';
import { useClaims } from './migrations/0021-use-claims.ts';
import { scheduledLeases } from './migrations/0022-scheduled-leases.ts';

/**
 * The history of the schema. A released migration is never changed: the next one corrects it.
 * Each runs in one transaction together with its row in schema_migrations.
 */

export interface Migration {
	readonly name: string;
	readonly statements: readonly string[];
	/** Statements that only PostgreSQL needs, run afterwards. */
	readonly postgres?: readonly string[];
	/** Statements that only SQLite needs. */
	readonly sqlite?: readonly string[];
}

const MIGRATIONS: readonly Migration[] = [
	{ name: '0001-initial', statements: initial, postgres: initialOnPostgres },
	{ name: '0002-changes', statements: changes },
	{ name: '0003-early-marks', statements: earlyMarks },
	{ name: '0004-push', statements: push },
	{ name: '0005-mentions', statements: mentions },
	{ name: '0006-accounts', statements: accounts },
	{ name: '0007-sends', statements: sends },
	{ name: '0008-topic-ids', statements: [], postgres: topicIds },
	{ name: '0009-profiles', statements: profiles },
	{ name: '0010-invites', statements: invites },
	{ name: '0011-reactions', statements: reactions },
	{ name: '0012-apps', statements: apps },
	{ name: '0013-search', statements: [], sqlite: searchOnSqlite, postgres: searchOnPostgres },
	{ name: '0014-pins', statements: pins },
	{ name: '0015-scheduled', statements: scheduled },
	{ name: '0016-people', statements: people },
	{ name: '0017-workspace-events', statements: workspaceEvents },
	{ name: '0018-files', statements: files },
	{ name: '0019-commit-rows', statements: [], postgres: commitRows },
	{ name: '0020-added-events', statements: addedEvents },
	{ name: '0021-use-claims', statements: useClaims },
	{ name: '0022-scheduled-leases', statements: scheduledLeases },
];

export const CREATE_MIGRATIONS_TABLE =
	'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT NOT NULL PRIMARY KEY, applied_ts BIGINT NOT NULL)';
export const APPLIED_MIGRATIONS = 'SELECT name FROM schema_migrations ORDER BY name';
export const RECORD_MIGRATION = 'INSERT INTO schema_migrations (name, applied_ts) VALUES ($1, $2)';

/** The database was written by a newer Tidemark than this one. */
export class SchemaTooNew extends Error {
	constructor(unknown: string) {
		super(
			`the database has the migration ${unknown}, which this version of Tidemark does not know: ` +
				'a newer version has written it. Start that version, or restore a backup from before the upgrade.',
		);
		this.name = 'SchemaTooNew';
	}
}

/** Migrations to run, in order. */
export function pendingMigrations(applied: readonly string[]): readonly Migration[] {
	const known = new Set(MIGRATIONS.map((migration) => migration.name));
	const unknown = applied.find((name) => !known.has(name));
	if (unknown !== undefined) throw new SchemaTooNew(unknown);
	return MIGRATIONS.filter((migration) => !applied.includes(migration.name));
}
