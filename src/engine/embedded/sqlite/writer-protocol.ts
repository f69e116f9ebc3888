import type { Param } from '../../store/sql.ts';

/** What goes between the thread that asks and the thread that writes. */

export interface OpenWriter {
	readonly path: string;
	/** The database may not grow beyond this; 0: no limit but the disk's. */
	readonly maxPages: number;
}

/**
 * A batch, sent as one JSON text: cheaper to hand over than objects are. Statements are named by number;
 * a text is sent along with the batch that first needs it, and keeps the next free number.
 */
export interface BatchMessage {
	readonly newTexts: readonly string[];
	/** Number and parameters in turn. */
	readonly rows: readonly (number | readonly Param[])[];
}

export const CLOSE = 'close';

/** Null: done. Otherwise what went wrong; nothing was written then. */
export type WriterAnswer = string | null;
