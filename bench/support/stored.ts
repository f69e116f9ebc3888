import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/** How many messages a data directory holds, counted while no server works on it. */
export function storedMessages(dataDir: string): number {
	const database = new Database(join(dataDir, 'tidemark.db'), { readwrite: true });
	try {
		return database.query<{ count: number }, []>('SELECT count(*) AS count FROM messages').get()?.count ?? 0;
	} finally {
		database.close();
	}
}

/** A benchmark of less than it says would be worth nothing. */
export function checkStored(dataDir: string, expected: number): void {
	const stored = storedMessages(dataDir);
	if (stored !== expected) throw new Error(`${stored} messages are stored where ${expected} should be`);
}
