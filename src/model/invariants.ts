/**
 * Rules that hold whatever happens to processes, disks and networks. Each check costs a comparison, so it stays on in production.
 * A violation is counted and not thrown: the message in hand is delivered all the same, and the metric
 * `tidemark_invariant_violations_total` counts how often: counts can no longer be trusted then.
 */

export const INVARIANTS = ['stamps_rise', 'cursor_within_timeline', 'view_never_goes_back'] as const;

export type Invariant = (typeof INVARIANTS)[number];

const violations: Record<Invariant, number> = {
	stamps_rise: 0,
	cursor_within_timeline: 0,
	view_never_goes_back: 0,
};

export function hold(invariant: Invariant, holds: boolean): void {
	if (!holds) violations[invariant] += 1;
}

/** How often each was violated since the process started. */
export const violationsOf = (invariant: Invariant): number => violations[invariant];
