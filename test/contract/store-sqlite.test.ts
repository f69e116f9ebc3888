import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	DatabaseDamaged,
	DataDirectoryInUse,
	DataDirectoryUnusable,
	openSqliteStore,
	type SqliteStoreOptions,
} from '../../src/engine/embedded/sqlite/open.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { SchemaTooNew } from '../../src/engine/store/migrations.ts';
import { Rejection } from '../../src/model/errors.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';

/** Specific to the SQLite store: its directory, its lock, and failing disks. */

let directory: string;
const opened: Store[] = [];

async function open(options?: SqliteStoreOptions): Promise<Store> {
	const store = await openSqliteStore(directory, options);
	opened.push(store);
	return store;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
	promise.then(
		() => 'no failure',
		(error: unknown) => error,
	);

beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), 'tidemark-sqlite-'));
});
afterEach(async () => {
	for (const store of opened.splice(0)) await store.close();
	await rm(directory, { recursive: true });
});

describe('one process', () => {
	const started: ReturnType<typeof spawnHolder>[] = [];
	const spawnHolder = () => {
		const script = new URL('../support/store/hold.ts', import.meta.url).pathname;
		return Bun.spawn([process.execPath, script, directory], { stdout: 'pipe', stderr: 'inherit' });
	};
	const holder = () => {
		const one = spawnHolder();
		started.push(one);
		return one;
	};
	afterEach(async () => {
		for (const one of started.splice(0)) {
			one.kill('SIGKILL');
			await one.exited;
		}
	});
	const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
		const { value } = await stream.getReader().read();
		return new TextDecoder().decode(value).trim();
	};

	test('a second process is rejected while the first has the directory', async () => {
		await open();
		expect(await firstLine(holder().stdout)).toBe('DataDirectoryInUse');
	});

	test('a second store in the same process is rejected too, and the first keeps working', async () => {
		const store = await open();
		expect(await failureOf(openSqliteStore(directory))).toBeInstanceOf(DataDirectoryInUse);
		await store.ledger.commit([created(conversation('C01'), ['U01'])]);
		expect(await firstLine(holder().stdout)).toBe('DataDirectoryInUse');
	});

	test('a killed process frees the directory and leaves its committed facts', async () => {
		const process = holder();
		expect(await firstLine(process.stdout)).toBe('open');
		expect(await failureOf(open())).toBeInstanceOf(DataDirectoryInUse);
		process.kill('SIGKILL');
		await process.exited;
		const store = await open();
		expect(await store.directory.conversations(['C01'])).toHaveLength(1);
	});

	test('a closed store frees the directory', async () => {
		await (await open()).close();
		await (await open()).close();
	});
});

describe('a directory that cannot be used', () => {
	test('a missing directory is created', async () => {
		const store = await openSqliteStore(join(directory, 'deep', 'data'));
		await store.close();
	});

	test('a file in its place is rejected', async () => {
		const path = join(directory, 'file');
		await writeFile(path, '');
		for (const place of [path, join(path, 'below')]) {
			const failure = await failureOf(openSqliteStore(place));
			expect(failure).toBeInstanceOf(DataDirectoryUnusable);
			expect(String(failure)).toContain('not a directory');
		}
	});

	test('a place where nothing can be created is rejected', async () => {
		expect(await failureOf(openSqliteStore('/proc/tidemark'))).toBeInstanceOf(DataDirectoryUnusable);
	});

	test('a file that is not a database is rejected', async () => {
		await writeFile(
			join(directory, 'tidemark.db'),
			'no database at all, but longer than a header '.repeat(100),
		);
		expect(await failureOf(open())).toBeInstanceOf(DatabaseDamaged);
		// The lock was released.
		await rm(join(directory, 'tidemark.db'));
		await open();
	});

	test('a database of a newer version is rejected', async () => {
		await (await open()).close();
		const database = new Database(join(directory, 'tidemark.db'));
		database.run("INSERT INTO schema_migrations (name, applied_ts) VALUES ('9999-future', 0)");
		database.close();
		const failure = await failureOf(open());
		expect(failure).toBeInstanceOf(SchemaTooNew);
		expect(String(failure)).toContain('9999-future');
	});
});

describe('a full disk', () => {
	const channel = conversation('C01');
	const large = (ts: number) => posted(channel, message('C01', ts, { text: 'x'.repeat(2_000_000) }));
	const small = (ts: number) => posted(channel, message('C01', ts));

	test('fails the batch and everything after it, without a trace; later commits succeed', async () => {
		const failures: string[] = [];
		const store = await open({ maxPages: 200, onCommitFailure: (error) => failures.push(error.message) });
		const { ledger, history, directory: people } = store;
		await ledger.commit([created(channel, ['U01']), small(BEGIN + 1)]);
		const durable = ledger.durable();

		const doomed = [
			ledger.commit([small(BEGIN + 2), large(BEGIN + 3)]),
			ledger.commit([small(BEGIN + 4)]),
			people.reserveName('T01', 'lost', 'C02', BEGIN),
			ledger.flushed(),
		];
		// Committed while the batch above is being written.
		await new Promise((resolve) => queueMicrotask(() => resolve(null)));
		doomed.push(ledger.commit([small(BEGIN + 5)]), ledger.flushed());
		for (const failure of await Promise.all(doomed.map(failureOf))) {
			expect(failure).toBeInstanceOf(Rejection);
			expect(failure).toMatchObject({ code: 'service_unavailable' });
			expect(String(failure)).toContain('full');
		}
		expect(failures).toHaveLength(1);
		expect(ledger.durable()).toBe(durable);

		await ledger.flushed();
		await ledger.commit([small(BEGIN + 6)]);
		const kept = await history.messages(
			'C01',
			[1, 2, 3, 4, 5, 6].map((step) => BEGIN + step),
		);
		expect(kept.map(({ ts }) => ts - BEGIN)).toEqual([1, 6]);
		expect(await people.reserveName('T01', 'lost', 'C03', BEGIN)).toBe(true);
	});

	test('the failure is reported before waiting requests are rejected', async () => {
		let isReported = false;
		const store = await open({
			maxPages: 200,
			onCommitFailure: () => {
				isReported = true;
			},
		});
		await failureOf(store.ledger.commit([large(BEGIN + 1)]));
		expect(isReported).toBe(true);
	});

	test('statements first used by a failed batch still work in later batches', async () => {
		const store = await open({ maxPages: 200 });
		await failureOf(store.ledger.commit([created(channel, ['U01']), large(BEGIN + 1)]));
		await store.ledger.commit([created(channel, ['U01']), small(BEGIN + 2)]);
		expect(await store.source.head('C01')).toMatchObject({ lastTs: BEGIN + 2 });
	});
});
