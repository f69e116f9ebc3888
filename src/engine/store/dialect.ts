/**
 * Everything that SQLite and PostgreSQL spell differently. The shared SQL uses these words:
 *
 *     EACH_TEXT($1), EACH_INTEGER($1)   the items of a JSON array, as a table with one column `item`
 *     EACH_RANGE($1)                    the items of an array of [text, low, high], as columns `item`, `low`, `high`
 *     SKIP_LOCKED                       at the end of a SELECT of rows to update: skips rows locked by other transactions
 *     CLUSTERED                         after CREATE TABLE (…): stores rows in the index of the primary key
 *     $1                                a parameter
 */

/** Translates SQL; do it once per text. */
export type Dialect = (sql: string) => string;

const EACH = /EACH_(TEXT|INTEGER)\(\$(\d+)\)/g;

const EACH_RANGE = /EACH_RANGE\(\$(\d+)\)/g;

export const toSqlite: Dialect = (sql) =>
	sql
		.replace(EACH, (_, _type, parameter) => `(SELECT value AS item FROM json_each($${parameter}))`)
		.replace(EACH_RANGE, (_, parameter) => {
			const part = (index: number) => `json_extract(value, '$[${index}]')`;
			return `(SELECT ${part(0)} AS item, ${part(1)} AS low, ${part(2)} AS high FROM json_each($${parameter}))`;
		})
		.replace(/\bSKIP_LOCKED\b/, '')
		.replace(/\bCLUSTERED\b/, 'WITHOUT ROWID')
		.replace(/\$(\d+)/g, '?$1');

export const toPostgres: Dialect = (sql) =>
	sql
		.replace(EACH, (_, type, parameter) => {
			const items = `jsonb_array_elements_text($${parameter}::text::jsonb)`;
			return `(SELECT ${type === 'TEXT' ? 'value' : 'value::bigint'} AS item FROM ${items})`;
		})
		.replace(EACH_RANGE, (_, parameter) => {
			const items = `jsonb_array_elements($${parameter}::text::jsonb)`;
			return `(SELECT value->>0 AS item, (value->>1)::bigint AS low, (value->>2)::bigint AS high FROM ${items})`;
		})
		.replace(/\bSKIP_LOCKED\b/, 'FOR UPDATE SKIP LOCKED')
		.replace(/\bCLUSTERED\b/, '');

/** For CREATE TABLE: texts are ordered by their bytes, whatever collation the database has. */
export const toPostgresSchema: Dialect = (sql) => toPostgres(sql).replace(/\bTEXT\b/g, 'TEXT COLLATE "C"');
