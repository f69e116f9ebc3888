import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileDirectory } from '../../src/engine/embedded/file-directory.ts';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { NewFile } from '../../src/engine/ports/files.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { FileSweeper, UPLOAD_HOURS } from '../../src/gateway/files/sweeper.ts';
import type { Services } from '../../src/gateway/services.ts';
import { fileContract } from './file-contract.ts';

/** Files in a directory, and their clean-up. */

let directory: string;
let store: Store;
let contents: FileDirectory;

beforeAll(async () => {
	directory = await mkdtemp(join(tmpdir(), 'tidemark-files-'));
	store = await openSqliteStore(join(directory, 'data'), {});
	contents = new FileDirectory(join(directory, 'files'));
});
afterAll(async () => {
	await store.close();
	await rm(directory, { recursive: true, force: true });
});

fileContract('a directory', () => contents);

const newFile = (id: string): NewFile => ({
	id,
	team: 'T1',
	user: 'U1',
	name: 'a.txt',
	title: 'a.txt',
	mimetype: 'text/plain',
	altText: '',
	snippetType: '',
	size: 4,
	createdTs: 1e15,
	secret: '',
});
const NO_PICTURE = { width: 0, height: 0 };
const LIMITS = { teamBytes: 1000, unfinished: 10 };

async function* text(): AsyncGenerator<Uint8Array> {
	yield new TextEncoder().encode('text');
}

test('uploads that were never completed are removed, and completed ones stay', async () => {
	const { files } = store;
	let now = 1e15;
	const services = { records: files, contents, maxFileBytes: 100, maxTeamBytes: 1000 };
	const sweeper = new FileSweeper({
		files: services,
		requests: {} as Services['requests'],
		nowMicros: () => now,
		failed: (error) => {
			throw error;
		},
	});
	for (const id of ['FAWAITED', 'FSTORED', 'FCOMPLETE']) {
		expect(await files.reserve(newFile(id), LIMITS)).toBe(true);
		await contents.write(id, 'object', text());
	}
	for (const id of ['FSTORED', 'FCOMPLETE']) await files.uploaded(id, 'object', NO_PICTURE);
	expect(await files.complete([{ id: 'FCOMPLETE', title: 'done' }], [])).toBe(true);
	await sweeper.sweep();
	expect((await files.get(['FAWAITED', 'FSTORED', 'FCOMPLETE'])).map(({ state }) => state)).toEqual([
		'awaited',
		'stored',
		'complete',
	]);
	now += UPLOAD_HOURS * 3600e6 + 1;
	await sweeper.sweep();
	expect((await files.get(['FAWAITED', 'FSTORED', 'FCOMPLETE'])).map(({ id }) => id)).toEqual(['FCOMPLETE']);
	expect(await contents.read('FSTORED', 'object', 0, 4)).toBeNull();
	expect(await contents.read('FCOMPLETE', 'object', 0, 4)).not.toBeNull();
	// A deletion that a crash interrupted.
	await files.beginDelete('FCOMPLETE');
	await sweeper.sweep();
	expect((await files.get(['FCOMPLETE']))[0]).toMatchObject({ state: 'deleted', name: '', object: '' });
	expect(await contents.read('FCOMPLETE', 'object', 0, 4)).toBeNull();
	await sweeper.stop();
});

test('an upload after the completion changes nothing', async () => {
	const { files } = store;
	await files.reserve(newFile('FLATE'), LIMITS);
	expect(await files.uploaded('FLATE', 'first', NO_PICTURE)).toBe(true);
	expect(await files.complete([{ id: 'FLATE', title: '' }], ['C1'])).toBe(true);
	expect(await files.uploaded('FLATE', 'second', NO_PICTURE)).toBe(false);
	expect((await files.get(['FLATE']))[0]).toMatchObject({ object: 'first', channels: ['C1'] });
	expect(await files.complete([{ id: 'FLATE', title: '' }], ['C1'])).toBe(true);
	expect(await files.complete([{ id: 'FLATE', title: '' }], ['C2'])).toBe(false);
	await files.reopen(['FLATE']);
	expect((await files.get(['FLATE']))[0]?.state).toBe('stored');
});

test('of two completions that share a file one changes nothing', async () => {
	const { files } = store;
	const ids = ['FFIRST', 'FSHARED', 'FSECOND'];
	for (const id of ids) {
		await files.reserve(newFile(id), LIMITS);
		await files.uploaded(id, 'object', NO_PICTURE);
	}
	const complete = (wanted: string[], channel: string) =>
		files.complete(
			wanted.map((id) => ({ id, title: '' })),
			[channel],
		);
	const done = await Promise.all([
		complete(['FFIRST', 'FSHARED'], 'C1'),
		complete(['FSHARED', 'FSECOND'], 'C2'),
	]);
	expect(done).toEqual([true, false]);
	expect((await files.get(ids)).map(({ state, channels }) => [state, ...channels])).toEqual([
		['complete', 'C1'],
		['complete', 'C1'],
		['stored'],
	]);
});
