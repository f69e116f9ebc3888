import { describe, expect, test } from 'bun:test';
import { deleteFrom, insertInto, statement, update, type WriteSql } from '../../store/write-sql.ts';
import { Planner } from './plan.ts';

const types = new Map([
	['messages.conversation', 'text'],
	['messages.ts', 'int8'],
	['members.user_id', 'text'],
	['members.cursor', 'int8'],
	['names.name', 'text'],
	['names.owner', 'text'],
]);
const INSERT = insertInto('messages', { conversation: 1, ts: 2, deleted: '0' });
const INSERT_TOO = insertInto('messages', { ts: 1, conversation: 2 });
const REWRITE = update('messages', { ts: 2 }, { conversation: 1 });
const CURSOR = update('members', { cursor: 2 }, { user_id: 1 });
const CLAIM = insertInto('names', { name: 1, owner: 2 }, { on: ['name'], update: 'owner = excluded.owner' });
const ACROSS = statement(
	null,
	'DELETE FROM names WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM messages WHERE ts = 1)',
);

type Row = readonly [WriteSql, ...(string | number | null)[]];
const planned = (...rows: Row[]) => {
	const writes = rows.map(([write]) => write);
	const params = rows.map(([, ...values]) => values);
	return new Planner(types).plan({ writes, params }).map(({ sql, params: values }) => [sql, ...values]);
};

describe('many rows in one statement', () => {
	test('inserts', () => {
		expect(planned([INSERT, 'C1', 1], [INSERT, 'C"2', 2], [INSERT, '\\', 3])).toEqual([
			[
				'INSERT INTO messages (conversation, ts, deleted) SELECT r.p1, r.p2, 0 ' +
					'FROM unnest($1::text::text[], $2::text::int8[]) AS r(p1, p2)',
				'{"C1","C\\"2","\\\\"}',
				'{1,2,3}',
			],
		]);
	});

	test('updates of different rows', () => {
		const many =
			'UPDATE members SET cursor = r.p2 FROM unnest($1::text::text[], $2::text::int8[]) AS r(p1, p2) ' +
			'WHERE user_id = r.p1';
		expect(planned([CURSOR, 'U1', 1], [CURSOR, 'U2', 2], [CURSOR, 'U1', 3])).toEqual([
			[many, '{"U1","U2"}', '{1,2}'],
			[CURSOR.text, 'U1', 3],
		]);
	});

	test('inserts with a conflict clause: a second one with the same key is a separate statement', () => {
		const plan = planned([CLAIM, 'a', 'x'], [CLAIM, 'b', 'x'], [CLAIM, 'a', 'y']);
		expect(plan.map(([, ...params]) => params)).toEqual([
			['{"a","b"}', '{"x","x"}'],
			['a', 'y'],
		]);
	});

	test('null, an empty text and the text NULL are distinguished', () => {
		expect(planned([INSERT, '', null], [INSERT, 'NULL', 1])[0]?.slice(1)).toEqual([
			'{"","NULL"}',
			'{NULL,1}',
		]);
	});
});

describe('order', () => {
	const order = (...rows: Row[]) =>
		planned(...rows).map(([sql]) =>
			String(sql)
				.split(/ SET| \(|WHERE/)[0]
				?.trim(),
		);

	test('statements are grouped by table, and keep their order within a table', () => {
		const rows: Row[] = [1, 2, 3].flatMap((step): Row[] => [
			[INSERT, 'C1', step],
			[CURSOR, `U${step}`, step],
		]);
		expect(order(...rows)).toEqual(['INSERT INTO messages', 'UPDATE members']);
		expect(order([INSERT, 'C1', 1], [REWRITE, 'C1', 2], [INSERT, 'C1', 3], [INSERT, 'C1', 4])).toEqual([
			'INSERT INTO messages',
			'UPDATE messages',
			'INSERT INTO messages',
		]);
	});

	test('two kinds of inserts into one table are grouped', () => {
		expect(
			order([INSERT, 'C1', 1], [INSERT_TOO, 2, 'C1'], [INSERT, 'C1', 3], [INSERT_TOO, 4, 'C1']),
		).toHaveLength(2);
	});

	test('nothing is moved across a statement about several tables', () => {
		expect(order([INSERT, 'C1', 1], [CLAIM, 'a', 'x'], [ACROSS, 'a'], [INSERT, 'C1', 2])).toEqual([
			'INSERT INTO messages',
			'INSERT INTO names',
			'DELETE FROM names',
			'INSERT INTO messages',
		]);
	});
});

describe('a declared statement', () => {
	const rows = 'unnest($1) AS r(p1)';

	test('is spelled for one row and for many', () => {
		const later = update(
			'members',
			{ member: '0', cursor: [3, (at) => `CASE WHEN cursor > ${at} THEN cursor ELSE ${at} END`] },
			{ user_id: 1, joined: ['<=', 2], ended: 'IS NULL' },
		);
		const condition = 'user_id = $1 AND joined <= $2 AND ended IS NULL';
		expect(later.text).toBe(
			`UPDATE members SET member = 0, cursor = CASE WHEN cursor > $3 THEN cursor ELSE $3 END WHERE ${condition}`,
		);
		expect(later.manyRows?.text(rows)).toBe(
			`UPDATE members SET member = 0, cursor = CASE WHEN cursor > r.p3 THEN cursor ELSE r.p3 END FROM ${rows} ` +
				'WHERE user_id = r.p1 AND joined <= r.p2 AND ended IS NULL',
		);
		expect(later.manyRows).toMatchObject({ columns: ['user_id', 'joined', 'cursor'], key: [0] });
		const removal = deleteFrom('members', { user_id: 1, joined: ['<', 2] });
		expect(removal.text).toBe('DELETE FROM members WHERE user_id = $1 AND joined < $2');
		expect(removal.manyRows?.text(rows)).toBe(
			`DELETE FROM members USING ${rows} WHERE user_id = r.p1 AND joined < r.p2`,
		);
	});

	test('takes every parameter in a column', () => {
		expect(() => insertInto('names', { name: 1, owner: 3 })).toThrow('numbered from 1');
	});

	test('about a column that the database does not have is an error', () => {
		const wrong = insertInto('names', { name: 1, holder: 2 });
		expect(() => planned([wrong, 'a', 'x'])).toThrow('names.holder');
	});
});
