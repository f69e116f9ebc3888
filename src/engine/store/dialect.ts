/**
 * All that SQLite and PostgreSQL spell differently. The shared texts use these words:
 *
 *     EACH_TEXT($1), EACH_INTEGER($1)   the items of a JSON list, as a table with one column `item`
 *     CLUSTERED                         after CREATE TABLE (…): rows lie in the primary key's own tree
 *     $1                                a parameter
 */

/** Translates a text; to be done once for each. */
export type Dialect = (sql: string) => string;

const EACH = /EACH_(TEXT|INTEGER)\(\$(\d+)\)/g;

export const toSqlite: Dialect = (sql) =>
	sql
		.replace(EACH, (_, _type, parameter) => `(SELECT value AS item FROM json_each($${parameter}))`)
		.replace(/\bCLUSTERED\b/, 'WITHOUT ROWID')
		.replace(/\$(\d+)/g, '?$1');

export const toPostgres: Dialect = (sql) =>
	sql
		.replace(EACH, (_, type, parameter) => {
			const items = `jsonb_array_elements_text($${parameter}::text::jsonb)`;
			return `(SELECT ${type === 'TEXT' ? 'value' : 'value::bigint'} AS item FROM ${items})`;
		})
		.replace(/\bCLUSTERED\b/, '');

/** Of what makes tables: texts in the order of their bytes, whatever the database's own order is. */
export const toPostgresSchema: Dialect = (sql) => toPostgres(sql).replace(/\bTEXT\b/g, 'TEXT COLLATE "C"');
