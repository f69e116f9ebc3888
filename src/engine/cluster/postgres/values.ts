import type { Param } from '../../store/sql.ts';

/**
 * Converts values to and from PostgreSQL. Parameters are sent as texts, so that the server derives their
 * types from the statement: a number would be int4 or int8 by its size, and every combination would
 * be another prepared statement.
 */

export const toParam = (value: Param): string | null => (typeof value === 'number' ? String(value) : value);

/** Converts int8 to numbers, in place: all stored integers are below 2^53. */
export function withNumbers<T>(rows: T[]): T[] {
	for (const row of rows as Record<string, unknown>[]) {
		for (const name in row) {
			const value = row[name];
			if (typeof value === 'bigint') row[name] = Number(value);
		}
	}
	return rows;
}

/** PostgreSQL's array literal for one parameter of many rows. */
export function arrayOf(values: readonly Param[]): string {
	let text = '{';
	for (let index = 0; index < values.length; index += 1) {
		const value = values[index] as Param;
		if (index > 0) text += ',';
		if (value === null) text += 'NULL';
		else if (typeof value === 'number') text += value;
		else text += SPECIAL.test(value) ? `"${value.replace(TO_ESCAPE, '\\$&')}"` : `"${value}"`;
	}
	return `${text}}`;
}

const SPECIAL = /["\\]/;
const TO_ESCAPE = /["\\]/g;
