/**
 * Invariants that must hold in spite of crashes and network failures. A check costs one comparison, so it runs in production.
 * A violation does not throw, because the message still has to be delivered; the metric
 * `tidemark_invariant_violations_total` counts it. Once it is above 0, counts may be wrong.
 */

export const INVARIANTS = ['stamps_rise', 'cursor_within_timeline', 'view_never_goes_back'] as const;

export type Invariant = (typeof INVARIANTS)[number];

const violations: Record<Invariant, number> = {
	stamps_rise: 0,
	cursor_within_timeline: 0,
	view_never_goes_back: 0,
};

export function checkInvariant(invariant: Invariant, holds: boolean): void {
	if (!holds) violations[invariant] += 1;
}

/** Number of violations since the process started. */
export const violationsOf = (invariant: Invariant): number => violations[invariant];
