/** A message that is pinned to its conversation. */
export interface Pin {
	readonly ts: number;
	/** Who pinned it, and when. */
	readonly user: string;
	readonly at: number;
}

/** As at Slack. */
export const MOST_PINS = 100;
