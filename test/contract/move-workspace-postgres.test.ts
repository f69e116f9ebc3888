import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onPostgres, postgresPlace } from '../support/postgres.ts';

/** scripts/move-workspace copies all data of a workspace to another database, and nothing else. */

const SCRIPT = new URL('../../scripts/move-workspace', import.meta.url).pathname;
/** Tables of an installation, not of a workspace. A table that is neither listed here nor copied was forgotten. */
const STAY = ['app_sockets', 'commit_rows', 'partition_progress', 'progress', 'schema_migrations', 'starts'];

interface Column {
	readonly table: string;
	readonly column: string;
	readonly type: string;
}

type Place = Awaited<ReturnType<typeof postgresPlace>>;
let from: Place;
let to: Place;
let tables: Map<string, Column[]>;

beforeAll(async () => {
	from = await postgresPlace();
	to = await postgresPlace();
	for (const place of [from, to]) await (await place.open()).close();
	const columns = await onPostgres<Column>(
		`SELECT table_name AS table, column_name AS column, data_type AS type
			FROM information_schema.columns WHERE table_schema = '${from.schema}'`,
	);
	tables = Map.groupBy(
		columns.filter(({ table }) => !STAY.includes(table)),
		({ table }) => table,
	);
	const inserts = [1, 2].flatMap((number) =>
		[...tables].map(([table, columns]) => insert(from.schema, table, columns, number)),
	);
	await onPostgres(inserts.join(';'));
});
afterAll(async () => {
	await from.remove();
	await to.remove();
});

/** One row for each workspace in each table, with matching ids. */
function insert(schema: string, table: string, columns: readonly Column[], number: number): string {
	const ids: Record<string, string> = {
		id: { workspaces: 'T', users: 'U', conversations: 'C' }[table] ?? 'D',
		team: 'T',
		user_id: 'U',
		conversation: 'C',
	};
	const values = columns.map(({ column, type }) =>
		type === 'text' ? `'${ids[column] ?? 'x'}${number}'` : number,
	);
	return `INSERT INTO ${schema}.${table} (${columns.map(({ column }) => column)}) VALUES (${values})`;
}

/** The rows of each table as texts, in order. */
async function contents(schema: string): Promise<ReadonlyMap<string, readonly string[]>> {
	const each = [...tables.keys()].map(
		(table) => `SELECT '${table}' AS name, ${table}::text AS row FROM ${schema}.${table}`,
	);
	const found = await onPostgres<{ name: string; row: string }>(`${each.join(' UNION ALL ')} ORDER BY row`);
	return new Map(
		[...tables.keys()].map((table) => [table, found.flatMap((one) => (one.name === table ? [one.row] : []))]),
	);
}

async function move(
	team: string,
	target = to.schema,
): Promise<{ readonly code: number; readonly output: string }> {
	const places = ['--from', from.url, '--to', to.url, '--schema', from.schema, '--to-schema', target];
	const child = Bun.spawn([SCRIPT, '--team', team, ...places], { stdio: ['ignore', 'pipe', 'pipe'] });
	const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return { code: await child.exited, output: output.join('') };
}

test('every table with data of the workspace is copied, and no data of another workspace', async () => {
	const { code, output } = await move('T1');
	expect({ code, output }).toMatchObject({ code: 0 });
	expect([...(output.match(/^\w+(?=: )/gm) ?? [])].sort()).toEqual([...tables.keys()].sort());
	const [before, after] = [await contents(from.schema), await contents(to.schema)];
	for (const [table, rows] of before) {
		expect({ table, rows: rows.length }).toEqual({ table, rows: 2 });
		expect({ table, rows: after.get(table) }).toEqual({ table, rows: rows.slice(0, 1) });
	}
	expect((await move('T1')).output).toContain('already has the workspace T1');
});

test('a target without tables is named as the reason, and the fix with it', async () => {
	const { code, output } = await move('T1', 'nothing_here');
	expect(code).toBe(1);
	expect(output).toContain('cannot read the tables in the schema nothing_here of the target database');
	expect(output).toContain('start a process of that cluster once');
	expect(output).not.toContain('already has');
});

test('a device that already belongs to another user in the target keeps that user', async () => {
	await onPostgres(insert(to.schema, 'push_devices', tables.get('push_devices') ?? [], 2));
	await onPostgres(`UPDATE ${to.schema}.push_devices SET user_id = 'U9' WHERE user_id = 'U2'`);
	const { code, output } = await move('T2');
	expect({ code, output }).toMatchObject({ code: 0 });
	const owners = await onPostgres(`SELECT user_id FROM ${to.schema}.push_devices ORDER BY user_id`);
	expect(owners).toEqual([{ user_id: 'U1' }, { user_id: 'U9' }]);
	expect((await contents(to.schema)).get('messages')?.length).toBe(2);
});
