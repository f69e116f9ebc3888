/**
 * Decides which messages the user has seen. Pure: the caller passes which messages are on screen, whether the window
 * has the user's attention, and the time.
 *
 * A message is seen after `SEEN_AFTER_MS` on screen without a break, with the user's attention. A message that scrolled
 * past faster, or was shown without attention, is not seen.
 */

export const SEEN_AFTER_MS = 500;

export interface Sightings {
	/** Messages on screen that are not seen yet: by ts, the time since which they are on screen. */
	readonly since: ReadonlyMap<string, number>;
	readonly seen: ReadonlySet<string>;
}

export const NOTHING_SEEN: Sightings = { since: new Map(), seen: new Set() };

export interface Observation {
	/** The messages on screen, by ts. */
	readonly onScreen: readonly string[];
	readonly isAttentive: boolean;
	/** Milliseconds, by the clock of the platform. */
	readonly now: number;
}

export function observe(before: Sightings, { onScreen, isAttentive, now }: Observation): Sightings {
	// The attention may have ended right after the last call, so the time on screen starts over.
	if (!isAttentive) return { since: new Map(), seen: before.seen };
	const seen = new Set(before.seen);
	for (const [ts, since] of before.since) if (now - since >= SEEN_AFTER_MS) seen.add(ts);
	const since = new Map<string, number>();
	for (const ts of onScreen) if (!seen.has(ts)) since.set(ts, before.since.get(ts) ?? now);
	return { since, seen };
}

/** Milliseconds until the next message counts as seen if nothing changes; null if there is none. */
export function nextSeenIn({ since }: Sightings, now: number): number | null {
	if (since.size === 0) return null;
	return Math.max(0, Math.min(...since.values()) + SEEN_AFTER_MS - now);
}

/** Drops messages at or before this ts, which are read. */
export const forgetRead = ({ since, seen }: Sightings, lastRead: string): Sightings => ({
	since,
	seen: new Set([...seen].filter((ts) => ts > lastRead)),
});
