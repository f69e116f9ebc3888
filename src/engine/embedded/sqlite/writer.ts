import { Worker } from 'node:worker_threads';
import type { Batch } from '../../store/batch.ts';
import { toSqlite } from '../../store/dialect.ts';
import type { Param } from '../../store/sql.ts';
import type { WriteSql } from '../../store/write-sql.ts';
import {
	ABANDON,
	type BatchMessage,
	CLOSE,
	type OpenWriter,
	type WriterAnswer,
	type WriterNotice,
} from './writer-protocol.ts';

/**
 * The writer thread, seen from the main thread. One batch is in flight at a time: group commit sends the next
 * one after the answer.
 */
export class SqliteWriter {
	private readonly thread: Worker;
	private readonly numbers = new Map<WriteSql, number>();
	private waiting: { resolve: () => void; reject: (error: Error) => void } | null = null;
	private stopped: Error | null = null;

	/** The files are not those that were opened; the message says what is wrong. */
	trouble: Error | null = null;

	private constructor(
		options: OpenWriter,
		private readonly onTrouble: (error: Error | null) => void,
	) {
		this.thread = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: options });
		this.thread.on('message', (message: WriterAnswer | WriterNotice) => {
			if (typeof message === 'object' && message !== null) this.noticed(message);
			else this.answered(message === null ? null : new Error(message));
		});
		this.thread.on('error', (error) => this.stop(error instanceof Error ? error : new Error(String(error))));
		this.thread.on('exit', () => this.stop(new Error('the writer thread has ended')));
	}

	/** Resolves when the thread has the database open. */
	static async open(options: OpenWriter, onTrouble: (error: Error | null) => void): Promise<SqliteWriter> {
		const writer = new SqliteWriter(options, onTrouble);
		await writer.nextAnswer();
		return writer;
	}

	write(batch: Batch): Promise<void> {
		return this.send(JSON.stringify(this.encode(batch)));
	}

	async close(): Promise<void> {
		if (this.stopped === null) await this.send(CLOSE);
		await this.thread.terminate();
	}

	/** Leaves the files alone, because they are not those that were opened: closing the database would write to them. */
	abandon(): void {
		this.thread.postMessage(ABANDON);
		this.thread.unref();
	}

	private noticed({ problem }: WriterNotice): void {
		this.trouble = problem === null ? null : new Error(problem);
		this.onTrouble(this.trouble);
	}

	private encode({ writes, params }: Batch): BatchMessage {
		const newTexts: string[] = [];
		const rows: (number | readonly Param[])[] = [];
		let erases = false;
		for (let index = 0; index < writes.length; index += 1) {
			const write = writes[index] as WriteSql | null;
			if (write === null) continue;
			let number = this.numbers.get(write);
			if (number === undefined) {
				number = this.numbers.size;
				this.numbers.set(write, number);
				newTexts.push(toSqlite(write.text));
			}
			erases ||= write.erases;
			rows.push(number, params[index] as readonly Param[]);
		}
		return { newTexts, rows, erases };
	}

	private send(message: string): Promise<void> {
		if (this.stopped !== null) return Promise.reject(this.stopped);
		const answer = this.nextAnswer();
		this.thread.postMessage(message);
		return answer;
	}

	private nextAnswer(): Promise<void> {
		return new Promise((resolve, reject) => {
			this.waiting = { resolve, reject };
		});
	}

	private answered(error: Error | null): void {
		const { waiting } = this;
		this.waiting = null;
		if (error === null) waiting?.resolve();
		else waiting?.reject(error);
	}

	private stop(error: Error): void {
		this.stopped ??= error;
		this.answered(this.stopped);
	}
}
