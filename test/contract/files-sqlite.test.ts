import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
	chmod,
	copyFile,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	truncate,
	unlink,
	writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	DatabaseDamaged,
	openSqliteStore,
	type SqliteStoreOptions,
} from '../../src/engine/embedded/sqlite/open.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { eventually } from '../support/eventually.ts';
import { BEGIN, conversation, created, deleted, edited, message, posted } from '../support/store/facts.ts';

/** The files of the data directory, and what happens if they change under a running server. */

const PATIENCE_MS = 20_000;
setDefaultTimeout(60_000);

let parent: string;
let directory: string;
const opened: Store[] = [];
const troubles: (string | null)[] = [];

async function open(options: SqliteStoreOptions = {}): Promise<Store> {
	const onTrouble = (error: Error | null) => void troubles.push(error?.message ?? null);
	const store = await openSqliteStore(directory, { onTrouble, ...options });
	opened.push(store);
	return store;
}

beforeEach(async () => {
	parent = await mkdtemp(join(tmpdir(), 'tidemark-files-'));
	directory = join(parent, 'data');
	troubles.length = 0;
});
afterEach(async () => {
	for (const store of opened.splice(0)) await store.close();
	await rm(parent, { recursive: true });
});

const modesOf = async (): Promise<Record<string, number>> => {
	const names = await readdir(directory);
	const modes = await Promise.all(
		names.map(async (name) => (await stat(join(directory, name))).mode & 0o777),
	);
	return Object.fromEntries(names.map((name, index) => [name, modes[index] as number]));
};

test('the database files are readable only by their owner from the start', async () => {
	const before = process.umask(0o022);
	try {
		const store = await open();
		await store.ledger.commit([created(conversation('C01'), ['U01'])]);
		const modes = await modesOf();
		expect(Object.keys(modes)).toContain('tidemark.db-wal');
		for (const [name, mode] of Object.entries(modes)) expect([name, mode]).toEqual([name, 0o600]);
		expect((await stat(directory)).mode & 0o777).toBe(0o700);
	} finally {
		process.umask(before);
	}
});

describe('texts that were deleted or edited', () => {
	const filesWith = async (text: string): Promise<string[]> => {
		const names = await readdir(directory);
		const contents = await Promise.all(names.map((name) => readFile(join(directory, name))));
		return names.filter((_, index) => contents[index]?.includes(text));
	};

	test('are in no file any more, whatever their size and surroundings', async () => {
		const store = await open({ eraseWithinMs: 300 });
		const room = conversation('C01');
		await store.ledger.commit([created(room, ['U01'])]);
		const sizes = [10, 200, 900, 5_000, 30_000];
		const said = Array.from({ length: 120 }, (_, index) =>
			message('C01', BEGIN + 10 + index, {
				text: `${index % 3 === 0 ? 'kept' : 'SECRET'} ${'x'.repeat(sizes[index % sizes.length] as number)}`,
			}),
		);
		await store.ledger.commit(said.map((one) => posted(room, one)));
		expect(await filesWith('SECRET')).not.toEqual([]);
		await store.ledger.commit(
			said.flatMap((one, index) => {
				if (index % 3 === 1) return [edited(room, one, BEGIN + 900 + index, 'harmless')];
				return index % 3 === 2 ? [deleted(room, one, BEGIN + 900 + index)] : [];
			}),
		);
		await eventually(async () => expect(await filesWith('SECRET')).toEqual([]), PATIENCE_MS);
		expect(await filesWith('kept')).not.toEqual([]);
		await store.ledger.commit([posted(room, message('C01', BEGIN + 5_000))]);
		await store.close();
		expect(await filesWith('SECRET')).toEqual([]);
	});

	test('are erased even if the directory was missing when erasure was due', async () => {
		const store = await open({ eraseWithinMs: 300 });
		const room = conversation('C01');
		const said = message('C01', BEGIN + 1, { text: 'SECRET' });
		await store.ledger.commit([created(room, ['U01']), posted(room, said)]);
		await store.ledger.commit([deleted(room, said, BEGIN + 2)]);
		await rename(directory, join(parent, 'elsewhere'));
		await eventually(async () => expect(troubles.at(-1)).toMatch(/was removed/), PATIENCE_MS);
		await Bun.sleep(600);
		await rename(join(parent, 'elsewhere'), directory);
		await eventually(async () => expect(await filesWith('SECRET')).toEqual([]), PATIENCE_MS);
	});
});

describe('under a running server', () => {
	const DATABASE = 'tidemark.db';
	const at = (name: string) => join(directory, name);
	const harms: [string, () => Promise<void>, RegExp][] = [
		['the directory deleted', () => rm(directory, { recursive: true }), /tidemark\.db was removed/],
		[
			'the directory moved away',
			() => rename(directory, join(parent, 'elsewhere')),
			/tidemark\.db was removed/,
		],
		['the lock removed', () => unlink(at('lock.db')), /lock\.db was removed/],
		[
			'the lock replaced by a link to itself',
			async () => {
				await unlink(at('lock.db'));
				await symlink('lock.db', at('lock.db'));
			},
			/cannot check its files \(.*lock\.db/,
		],
		['the write-ahead log removed', () => unlink(at(`${DATABASE}-wal`)), /tidemark\.db-wal was removed/],
		['the database truncated to nothing', () => truncate(at(DATABASE), 0), /tidemark\.db/],
		['the database overwritten', () => writeFile(at(DATABASE), Buffer.alloc(400_000, 7)), /tidemark\.db/],
		[
			'the database overwritten by a copy of before this start',
			() => copyFile(join(parent, 'copy.db'), at(DATABASE)),
			/tidemark\.db/,
		],
		[
			'the database replaced by another file',
			async () => {
				await copyFile(at(DATABASE), at('new.db'));
				await rename(at('new.db'), at(DATABASE));
			},
			/tidemark\.db was replaced/,
		],
	];
	for (const [what, harm, named] of harms) {
		test(`${what} is detected without a write, and nothing is acknowledged any more`, async () => {
			const first = await open();
			const room = conversation('C01');
			await first.ledger.commit([created(room, ['U01'])]);
			await first.close();
			await copyFile(at(DATABASE), join(parent, 'copy.db'));
			const store = await open();
			await store.ledger.commit([posted(room, message('C01', BEGIN + 1))]);
			await harm();
			await eventually(async () => expect(String(troubles.at(-1))).toMatch(named), PATIENCE_MS);
			const outcome = await store.ledger.commit([posted(room, message('C01', BEGIN + 2))]).then(
				() => 'acknowledged',
				(error: Error) => error.message,
			);
			expect(outcome).toMatch(named);
		});
	}

	test('a write right after the database was truncated is rejected too', async () => {
		const store = await open();
		const room = conversation('C01');
		await store.ledger.commit([created(room, ['U01'])]);
		await truncate(at(DATABASE), 0);
		const outcome = await store.ledger.commit([posted(room, message('C01', BEGIN + 1))]).then(
			() => 'acknowledged',
			(error: Error) => error.message,
		);
		expect(outcome).toMatch(/tidemark\.db/);
	});

	test('a directory that is moved back is used again', async () => {
		const store = await open();
		const room = conversation('C01');
		await store.ledger.commit([created(room, ['U01'])]);
		await rename(directory, join(parent, 'elsewhere'));
		await eventually(async () => expect(troubles.at(-1)).toMatch(/was removed/), PATIENCE_MS);
		await rename(join(parent, 'elsewhere'), directory);
		await eventually(async () => expect(troubles.at(-1)).toBeNull(), PATIENCE_MS);
		await store.ledger.commit([posted(room, message('C01', BEGIN + 1))]);
	});

	test('a file that replaced the database is not overwritten when the server stops', async () => {
		const store = await open();
		await store.ledger.commit([created(conversation('C01'), ['U01'])]);
		await writeFile(at(DATABASE), 'restored from a backup');
		await eventually(async () => expect(troubles.at(-1)).toBeString(), PATIENCE_MS);
		await store.close();
		opened.length = 0;
		expect(await readFile(at(DATABASE), 'utf8')).toBe('restored from a backup');
	});
});

test('a database of 0 bytes is not treated as a new one', async () => {
	await (await open()).close();
	opened.length = 0;
	await truncate(join(directory, 'tidemark.db'), 0);
	const failure = await openSqliteStore(directory).catch((error: unknown) => error);
	expect(failure).toBeInstanceOf(DatabaseDamaged);
	expect(String(failure)).toMatch(/0 bytes/);
	await chmod(directory, 0o700);
});

test('a first start that fails before it has written anything leaves no empty database', async () => {
	const obstacle = join(directory, 'tidemark.db-journal');
	await mkdir(obstacle, { recursive: true });
	const failure = await openSqliteStore(directory).catch((error: unknown) => error);
	expect(failure).toBeInstanceOf(Error);
	await rm(obstacle, { recursive: true });
	await open();
});
