import type { SqlReader } from './sql.ts';
import { type BoundWrite, deleteFrom, insertInto } from './write-sql.ts';

/** Preferences of users, one row per name, so that two devices that set different ones do not overwrite each other. */

const OF_USER = 'SELECT name, value FROM user_preferences WHERE user_id = $1 ORDER BY name';
const SET = insertInto(
	'user_preferences',
	{ user_id: 1, name: 2, value: 3 },
	{ on: ['user_id', 'name'], update: 'value = excluded.value' },
);
const REMOVE = deleteFrom('user_preferences', { user_id: 1, name: 2 });

export async function preferencesOf(reader: SqlReader, user: string): Promise<ReadonlyMap<string, string>> {
	const rows = await reader.all<{ readonly name: string; readonly value: string }>(OF_USER, [user]);
	return new Map(rows.map(({ name, value }) => [name, value]));
}

export const setPreference = (user: string, name: string, value: string): BoundWrite =>
	value === '' ? { write: REMOVE, params: [user, name] } : { write: SET, params: [user, name, value] };
