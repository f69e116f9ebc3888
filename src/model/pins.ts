/** A message that is pinned to its conversation. */
export interface Pin {
	readonly ts: number;
	/** The user who pinned it, and when. */
	readonly user: string;
	readonly at: number;
}

/** Slack's limit. */
export const MAX_PINS = 100;
