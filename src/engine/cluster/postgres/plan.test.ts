import { describe, expect, test } from 'bun:test';
import { Planner } from './plan.ts';
import { shapeOf } from './shape.ts';

const types = new Map([
	['messages.conversation', 'text'],
	['messages.ts', 'int8'],
	['members.user_id', 'text'],
	['members.cursor', 'int8'],
	['names.name', 'text'],
	['names.owner', 'text'],
]);
const INSERT = 'INSERT INTO messages (conversation, ts, deleted) VALUES ($1, $2, 0)';
const INSERT_TOO = 'INSERT INTO messages (ts, conversation) VALUES ($1, $2)';
const REWRITE = 'UPDATE messages SET ts = $2 WHERE conversation = $1';
const CURSOR = 'UPDATE members SET cursor = $2 WHERE user_id = $1';
const CLAIM = `INSERT INTO names (name, owner) VALUES ($1, $2)
	ON CONFLICT (name) DO UPDATE SET owner = excluded.owner`;
const ACROSS = 'DELETE FROM names WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM messages WHERE ts = 1)';

type Row = readonly [string, ...(string | number | null)[]];
const planned = (...rows: Row[]) => {
	const texts = rows.map(([text]) => text);
	const params = rows.map(([, ...values]) => values);
	return new Planner(types).plan({ texts, params }).map(({ sql, params: values }) => [sql, ...values]);
};

describe('many rows in one statement', () => {
	test('inserts', () => {
		expect(planned([INSERT, 'C1', 1], [INSERT, 'C"2', 2], [INSERT, '\\', 3])).toEqual([
			[
				'INSERT INTO messages (conversation, ts, deleted) SELECT r.p1, r.p2, 0 ' +
					'FROM unnest($1::text::text[], $2::text::int8[]) AS r(p1, p2) ',
				'{"C1","C\\"2","\\\\"}',
				'{1,2,3}',
			],
		]);
	});

	test('updates, unless they are of the same row', () => {
		const many =
			'UPDATE members SET cursor = r.p2 FROM unnest($1::text::text[], $2::text::int8[]) AS r(p1, p2) ' +
			'WHERE user_id = r.p1';
		expect(planned([CURSOR, 'U1', 1], [CURSOR, 'U2', 2], [CURSOR, 'U1', 3])).toEqual([
			[many, '{"U1","U2"}', '{1,2}'],
			[CURSOR, 'U1', 3],
		]);
	});

	test('inserts that may meet a row: of two of the same key, the second is a statement of its own', () => {
		const plan = planned([CLAIM, 'a', 'x'], [CLAIM, 'b', 'x'], [CLAIM, 'a', 'y']);
		expect(plan.map(([, ...params]) => params)).toEqual([
			['{"a","b"}', '{"x","x"}'],
			['a', 'y'],
		]);
	});

	test('nothing and null are told apart', () => {
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

	test('statements of different tables are put together, and those of one table keep their order', () => {
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

	test('two kinds of inserts into one table do not part each other', () => {
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

test('what cannot be written for many rows stays as it is', () => {
	for (const sql of [
		'UPDATE progress SET newest_stamp = $1 WHERE newest_stamp < $1',
		'UPDATE members SET cursor = cursor + $2 WHERE user_id = $1',
		'DELETE FROM read_ahead WHERE conversation = $1 AND user_id IN (SELECT item FROM EACH_TEXT($2) AS joining)',
	]) {
		expect(shapeOf(sql)).toMatchObject({ manyRows: null });
	}
	expect(shapeOf(ACROSS)).toBeNull();
	expect(shapeOf('INSERT INTO a (b) SELECT c FROM d')).toBeNull();
});
