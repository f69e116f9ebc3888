import { Database, type Statement } from 'bun:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Param } from '../../store/sql.ts';
import { WRITER_PRAGMAS } from './pragmas.ts';
import { type BatchMessage, CLOSE, type OpenWriter, type WriterAnswer } from './writer-protocol.ts';

/**
 * The thread that writes: one batch, one transaction, one answer, in order. It waits for the disk, so that
 * nobody else has to.
 */

const { path, maxPages } = workerData as OpenWriter;
const database = new Database(path, { create: false, readwrite: true });
for (const pragma of WRITER_PRAGMAS) database.run(`PRAGMA ${pragma}`);
if (maxPages > 0) database.run(`PRAGMA max_page_count = ${maxPages}`);

const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
/** By number. A text keeps its number also when it could not be prepared. */
const texts: string[] = [];
const statements: Statement<unknown, Param[]>[] = [];

function statementOf(number: number): Statement<unknown, Param[]> {
	let statement = statements[number];
	if (statement === undefined) {
		statement = database.prepare<unknown, Param[]>(texts[number]!);
		statements[number] = statement;
	}
	return statement;
}

function write({ newTexts, rows }: BatchMessage): void {
	texts.push(...newTexts);
	begin.run();
	try {
		for (let index = 0; index < rows.length; index += 2) {
			statementOf(rows[index] as number).run(...(rows[index + 1] as Param[]));
		}
		commit.run();
	} catch (error) {
		// A full disk has rolled back by itself.
		if (database.inTransaction) database.run('ROLLBACK');
		throw error;
	}
}

const answer = (text: WriterAnswer): void => parentPort?.postMessage(text);

parentPort?.on('message', (message: string) => {
	if (message === CLOSE) {
		database.close();
		answer(null);
		return;
	}
	try {
		write(JSON.parse(message) as BatchMessage);
		answer(null);
	} catch (error) {
		answer(error instanceof Error ? error.message : String(error));
	}
});

// Told once the database is open.
answer(null);
