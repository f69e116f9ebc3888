import { Database, type Statement } from 'bun:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOfError } from '../../../model/errors.ts';
import type { Param } from '../../store/sql.ts';
import { FileGuard } from './file-guard.ts';
import { WRITER_PRAGMAS } from './pragmas.ts';
import {
	ABANDON,
	type BatchMessage,
	CLOSE,
	type OpenWriter,
	type WriterAnswer,
	type WriterNotice,
} from './writer-protocol.ts';

/**
 * The writer thread: one transaction and one answer per batch, in order. It waits for the disk, so that
 * the main thread does not have to.
 */

const CHECK_EVERY_MS = 1_000;

const { path, maxPages, files, eraseWithinMs } = workerData as OpenWriter;
const database = new Database(path, { create: false, readwrite: true });
for (const pragma of WRITER_PRAGMAS) database.run(`PRAGMA ${pragma}`);
if (maxPages > 0) database.run(`PRAGMA max_page_count = ${maxPages}`);

const guard = new FileGuard(files);
let reported: string | null = null;
let erasing: ReturnType<typeof setTimeout> | null = null;

const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
/** By number. A text keeps its number even if preparing it failed. */
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

/** Checks the files, and reports when the result changes. */
function checkFiles(): string | null {
	const problem = guard.problem();
	if (problem !== reported) parentPort?.postMessage({ problem } satisfies WriterNotice);
	reported = problem;
	return problem;
}

/** The write-ahead log still has old versions of pages: empties it, at most once per `eraseWithinMs`. */
function eraseLater(): void {
	erasing ??= setTimeout(() => {
		erasing = null;
		if (!emptyLog()) eraseLater();
	}, eraseWithinMs);
}

/** Returns false if a reader uses the log, the files have a problem, or the disk is full. */
function emptyLog(): boolean {
	if (checkFiles() !== null) return false;
	try {
		const emptied = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get();
		return emptied?.busy === 0;
	} catch {
		// The next write reports the cause, if there still is one.
		return false;
	} finally {
		guard.noteOwnWrite();
	}
}

function write({ newTexts, rows, erases }: BatchMessage): void {
	texts.push(...newTexts);
	const problem = checkFiles();
	if (problem !== null) throw new Error(problem);
	begin.run();
	try {
		for (let index = 0; index < rows.length; index += 2) {
			statementOf(rows[index] as number).run(...(rows[index + 1] as Param[]));
		}
		commit.run();
		guard.noteOwnWrite();
		if (erases) eraseLater();
	} catch (error) {
		// SQLite rolls back by itself when the disk is full.
		if (database.inTransaction) database.run('ROLLBACK');
		throw error;
	}
}

const answer = (text: WriterAnswer): void => parentPort?.postMessage(text);

parentPort?.on('message', (message: string) => {
	if (message === CLOSE || message === ABANDON) {
		clearInterval(checking);
		if (erasing) clearTimeout(erasing);
		if (message === ABANDON) return;
		database.close();
		answer(null);
		return;
	}
	try {
		write(JSON.parse(message) as BatchMessage);
		answer(null);
	} catch (error) {
		answer(messageOfError(error));
	}
});

const checking = setInterval(checkFiles, CHECK_EVERY_MS);

// The first answer: the database is open.
answer(null);
