import type { Param } from '../../store/sql.ts';
import type { GuardedFiles } from './file-guard.ts';

/** What goes between the thread that asks and the thread that writes. */

export interface OpenWriter {
	readonly path: string;
	/** The database may not grow beyond this; 0: no limit but the disk's. */
	readonly maxPages: number;
	readonly files: GuardedFiles;
	/** How long what was deleted may stay in the write-ahead log. */
	readonly eraseWithinMs: number;
}

/**
 * A batch, sent as one JSON text: cheaper to hand over than objects are. Statements are named by number;
 * a text is sent along with the batch that first needs it, and keeps the next free number.
 */
export interface BatchMessage {
	readonly newTexts: readonly string[];
	/** Number and parameters in turn. */
	readonly rows: readonly (number | readonly Param[])[];
	/** Something that people wrote is deleted or replaced by it. */
	readonly erases: boolean;
}

export const CLOSE = 'close';
/** No more looking at the files, and no touching them. */
export const ABANDON = 'abandon';

/** Null: done. Otherwise what went wrong; nothing was written then. */
export type WriterAnswer = string | null;

/** Not an answer: what is wrong with the files, when that changes. */
export interface WriterNotice {
	readonly problem: string | null;
}
