import type { Param } from '../../store/sql.ts';
import type { GuardedFiles } from './file-guard.ts';

/** Messages between the main thread and the writer thread. */

export interface OpenWriter {
	readonly path: string;
	/** Maximum size of the database in pages; 0: no limit. */
	readonly maxPages: number;
	readonly files: GuardedFiles;
	/** How long deleted content may stay in the write-ahead log. */
	readonly eraseWithinMs: number;
}

/**
 * A batch, sent as one JSON text, which is cheaper than passing objects. Statements are named by number; the text
 * of a statement is sent once, with the first batch that needs it, and gets the next free number.
 */
export interface BatchMessage {
	readonly newTexts: readonly string[];
	/** Alternating: number of the statement, parameters. */
	readonly rows: readonly (number | readonly Param[])[];
	/** The batch deletes or replaces content of users. */
	readonly erases: boolean;
}

export const CLOSE = 'close';
/** Stop checking the files, and do not touch them. */
export const ABANDON = 'abandon';

/** Null: success. Otherwise the error; nothing was written. */
export type WriterAnswer = string | null;

/** Sent unasked when the state of the files changes. */
export interface WriterNotice {
	readonly problem: string | null;
}
