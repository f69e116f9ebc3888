import type { Param } from '../../store/sql.ts';

/**
 * Values on their way to PostgreSQL and back. Parameters are sent as texts, so that the server takes each for
 * the type that its place asks for: a number would be an int4 or an int8 by its size, and every mixture of
 * them a statement of its own to prepare.
 */

export const toParam = (value: Param): string | null => (typeof value === 'number' ? String(value) : value);

/** Turns int8 into numbers, in place: all that Tidemark stores are below 2^53. */
export function withNumbers<T>(rows: T[]): T[] {
	for (const row of rows as Record<string, unknown>[]) {
		for (const name in row) {
			const value = row[name];
			if (typeof value === 'bigint') row[name] = Number(value);
		}
	}
	return rows;
}

/** An array as PostgreSQL writes it, of one parameter of many rows. */
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
