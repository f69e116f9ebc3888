import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/** The number of messages in a data directory, counted while no server uses it. */
export function storedMessages(dataDir: string): number {
	const database = new Database(join(dataDir, 'tidemark.db'), { readwrite: true });
	try {
		return database.query<{ count: number }, []>('SELECT count(*) AS count FROM messages').get()?.count ?? 0;
	} finally {
		database.close();
	}
}

/** Fails if the number of stored messages differs from the expected one. */
export function checkStored(dataDir: string, expected: number): void {
	const stored = storedMessages(dataDir);
	if (stored !== expected) throw new Error(`${stored} messages are stored where ${expected} should be`);
}
