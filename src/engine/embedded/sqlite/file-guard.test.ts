import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileGuard } from './file-guard.ts';

const START_NUMBER = 4711;

function guarded(work: (guard: FileGuard, database: string, write: () => void) => void): void {
	const directory = mkdtempSync(join(tmpdir(), 'tidemark-guard-'));
	const path = join(directory, 'tidemark.db');
	const lock = join(directory, 'lock.db');
	writeFileSync(lock, '');
	const database = new Database(path);
	database.run('PRAGMA journal_mode = WAL');
	database.run(`PRAGMA user_version = ${START_NUMBER}`);
	database.run('CREATE TABLE numbers (number INTEGER)');
	database.run('PRAGMA wal_checkpoint(TRUNCATE)');
	const descriptor = openSync(path, 'r');
	try {
		const guard = new FileGuard({ descriptor, database: path, lock, startNumber: START_NUMBER });
		work(guard, path, () => database.run('INSERT INTO numbers VALUES (1)'));
	} finally {
		closeSync(descriptor);
		database.close();
		rmSync(directory, { recursive: true });
	}
}

test('the server’s own writes are no problem', () => {
	guarded((guard, _, write) => {
		for (let count = 0; count < 3; count += 1) {
			write();
			guard.noteOwnWrite();
			expect(guard.problem()).toBeNull();
		}
	});
});

test('truncation during a write is not mistaken for its result', () => {
	guarded((guard, database, write) => {
		write();
		truncateSync(database, 0);
		guard.noteOwnWrite();
		expect(guard.problem()).toContain('was overwritten or truncated while the server is running');
	});
});
