/**
 * Which messages a user has seen. Pure: the interface reports what is on screen and whether the user is looking,
 * and the caller passes the time.
 *
 * A message is seen after `SEEN_AFTER_MS` on screen without a break while the user was looking. A message that
 * scrolled past faster, or was shown while nobody was looking, is not.
 */

export const SEEN_AFTER_MS = 500;

export interface Sightings {
	/** Messages on screen that are not seen yet, by ts, with the time since when. */
	readonly since: ReadonlyMap<string, number>;
	readonly seen: ReadonlySet<string>;
}

export const NOTHING_SEEN: Sightings = { since: new Map(), seen: new Set() };

export interface Look {
	/** The messages on screen, by ts. */
	readonly onScreen: readonly string[];
	readonly isThere: boolean;
	/** Milliseconds of a monotonic clock. */
	readonly now: number;
}

export function look(before: Sightings, { onScreen, isThere, now }: Look): Sightings {
	// How long the user was looking since the last call is unknown: start over.
	if (!isThere) return { since: new Map(), seen: before.seen };
	const seen = new Set(before.seen);
	for (const [ts, since] of before.since) if (now - since >= SEEN_AFTER_MS) seen.add(ts);
	const since = new Map<string, number>();
	for (const ts of onScreen) if (!seen.has(ts)) since.set(ts, before.since.get(ts) ?? now);
	return { since, seen };
}

/** Milliseconds until the next message counts as seen if nothing changes; null: none. */
export function nextSeenIn({ since }: Sightings, now: number): number | null {
	if (since.size === 0) return null;
	return Math.max(0, Math.min(...since.values()) + SEEN_AFTER_MS - now);
}

/** Drops messages at or before this ts, which are read. */
export const forgetRead = ({ since, seen }: Sightings, lastRead: string): Sightings => ({
	since,
	seen: new Set([...seen].filter((ts) => ts > lastRead)),
});
