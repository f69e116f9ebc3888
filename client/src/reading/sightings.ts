/**
 * What a person has seen of a list of messages. Pure: the interface reports what is on screen and whether somebody is there,
 * the caller brings the clock.
 *
 * A message is seen when it was on screen for `SEEN_AFTER_MS` without a break while somebody was there. A message that passed
 * in less time, or stood on the screen of an empty desk, is not.
 */

export const SEEN_AFTER_MS = 500;

export interface Sightings {
	/** Messages that are being looked at, with the time since when; by ts. */
	readonly since: ReadonlyMap<string, number>;
	readonly seen: ReadonlySet<string>;
}

export const NOTHING_SEEN: Sightings = { since: new Map(), seen: new Set() };

export interface Look {
	/** The messages on screen, by ts. */
	readonly onScreen: readonly string[];
	readonly isThere: boolean;
	/** Milliseconds of any clock that only goes forward. */
	readonly now: number;
}

export function look(before: Sightings, { onScreen, isThere, now }: Look): Sightings {
	// Nobody knows for how much of the time since the last look the person was there: it starts over.
	if (!isThere) return { since: new Map(), seen: before.seen };
	const seen = new Set(before.seen);
	for (const [ts, since] of before.since) if (now - since >= SEEN_AFTER_MS) seen.add(ts);
	const since = new Map<string, number>();
	for (const ts of onScreen) if (!seen.has(ts)) since.set(ts, before.since.get(ts) ?? now);
	return { since, seen };
}

/** In how many milliseconds the next message will have been seen, if nothing changes; null for none. */
export function nextSeenIn({ since }: Sightings, now: number): number | null {
	if (since.size === 0) return null;
	return Math.max(0, Math.min(...since.values()) + SEEN_AFTER_MS - now);
}

/** Forgets what is read: at or before this ts. */
export const forgetRead = ({ since, seen }: Sightings, lastRead: string): Sightings => ({
	since,
	seen: new Set([...seen].filter((ts) => ts > lastRead)),
});
