import type { Has, SearchTerm } from '../../model/search-query.ts';

/** Finds messages by words. It only finds messages that the user may read. */

export interface SearchRequest {
	readonly team: string;
	readonly user: string;
	/** Only conversations of the user; otherwise public channels of the workspace as well. */
	readonly memberOnly: boolean;
	readonly terms: readonly SearchTerm[];
	/** Authors; null: any. */
	readonly from: readonly string[] | null;
	/** Conversations; null: any. */
	readonly in: readonly string[] | null;
	/** Exclusive bounds. */
	readonly after: number;
	readonly before: number;
	readonly has: readonly Has[];
}

export interface SearchMatch {
	readonly conversation: string;
	readonly ts: number;
	/** Number of occurrences. */
	readonly hits: number;
}

export interface Search {
	/**
	 * The newest matches first, up to `MAX_MATCHES`. Work is bounded: older matches of very frequent words may be missing.
	 * The embedded engine finds a message a moment after it was posted.
	 */
	find(request: SearchRequest): Promise<readonly SearchMatch[]>;
}

export const MAX_MATCHES = 1000;
