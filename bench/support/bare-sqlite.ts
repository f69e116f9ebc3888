import { Database } from 'bun:sqlite';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { toSqlite } from '../../src/engine/store/dialect.ts';
import { initial } from '../../src/engine/store/migrations/0001-initial.ts';
import { channelId, MESSAGE_TEXT, userId } from './dataset.ts';

/** Writes messages as fast as SQLite makes them durable from one thread: nothing is decided or published. */

const INSERT = `INSERT INTO messages (conversation, ts, user_id, text, client_msg_id, thread_ts, broadcast,
	named, channel_wide, here, extra, edited_ts, changed_ts, deleted)
	VALUES (?1, ?2, ?3, ?4, NULL, NULL, 0, NULL, 0, 0, NULL, NULL, ?2, 0)`;

/** Rows per second. */
export function bareSqlite(directory: string, channels: number, count: number, perCommit: number): number {
	mkdirSync(directory, { recursive: true });
	const database = new Database(join(directory, 'bare.db'), { create: true });
	for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 16000'])
		database.run(`PRAGMA ${pragma}`);
	for (const sql of initial) database.run(toSqlite(sql));
	const insert = database.prepare(INSERT);
	let ts = 1_700_000_000_000_000;
	const started = performance.now();
	for (let row = 0; row < count; ) {
		database.run('BEGIN IMMEDIATE');
		for (const end = Math.min(count, row + perCommit); row < end; row += 1) {
			ts += 1;
			insert.run(channelId(row % channels), ts, userId(row % channels), MESSAGE_TEXT);
		}
		database.run('COMMIT');
	}
	const perSecond = count / ((performance.now() - started) / 1000);
	database.close();
	return perSecond;
}
