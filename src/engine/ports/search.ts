import type { Has, SearchTerm } from '../../model/search-query.ts';

/** Finds messages by their words. What the user may not read is not found. */

export interface SearchRequest {
	readonly team: string;
	readonly user: string;
	/** Only where the user is a member; else in all public channels of the workspace too. */
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
	/** How often the words occur. */
	readonly hits: number;
}

export interface Search {
	/**
	 * The newest matches first, up to `MOST_MATCHES`. Work is bounded: of words that occur very often older matches may be missing. On one
	 * machine a message can be found a moment after it was posted.
	 */
	find(request: SearchRequest): Promise<readonly SearchMatch[]>;
}

export const MOST_MATCHES = 1000;
