import type { CountRow } from '../../engine/ports/read-state.ts';

/**
 * Builds the part of a client.counts row after the id, including the comma. Most rows have the same numbers and
 * differ only in their times, which have a fixed width: so a tail is built once, cached, and copied with the times
 * written over it. The cache has a fixed size; a new tail replaces the one in its slot.
 */

export interface Tail extends Shown {
	readonly bytes: Uint8Array;
	/** Offset of the two stamps of `position`. The offsets of `last_read` and `latest` are the same in all tails. */
	readonly positionAt: number;
}

type Shown = Pick<
	CountRow,
	'unread' | 'unreadDisplay' | 'mentions' | 'badge' | 'muted' | 'level' | 'revision' | 'capped'
>;

const NO_TS = '0000000000.000000';
const NO_STAMP = '0000000000000000';
export const STAMP_WIDTH = NO_STAMP.length;
const LAST_READ = '","last_read":"';
const LATEST = `${LAST_READ}${NO_TS}","latest":"`;
export const LAST_READ_AT = LAST_READ.length;
export const LATEST_AT = LATEST.length;
/** Upper bound: counts have up to 5 digits, a revision 15. */
export const TAIL_BYTES = 400;

/** A power of two; a tail takes about 400 bytes. */
const CACHE_SLOTS = 4096;

export class Tails {
	private readonly slots: (Tail | undefined)[] = new Array(CACHE_SLOTS).fill(undefined);

	of(row: CountRow): Tail {
		const slot = slotOf(row);
		const cached = this.slots[slot];
		if (cached && isSame(cached, row)) return cached;
		const made = tailOf(row);
		this.slots[slot] = made;
		return made;
	}
}

const slotOf = (row: Shown): number =>
	(row.unread +
		row.mentions * 31 +
		row.badge * 67 +
		row.revision * 131 +
		(row.muted ? 1024 : 0) +
		(row.level === 'all' ? 0 : row.level === 'mentions' ? 512 : 256)) &
	(CACHE_SLOTS - 1);

const isSame = (a: Shown, b: Shown): boolean =>
	a.unread === b.unread &&
	a.unreadDisplay === b.unreadDisplay &&
	a.mentions === b.mentions &&
	a.badge === b.badge &&
	a.revision === b.revision &&
	a.muted === b.muted &&
	a.level === b.level &&
	a.capped === b.capped;

function tailOf({ unread, unreadDisplay, mentions, badge, muted, level, revision, capped }: Shown): Tail {
	const before =
		`${LATEST}${NO_TS}","has_unreads":${unread > 0},"unread_count":${unread},` +
		`"unread_count_display":${unreadDisplay},"mention_count":${mentions},"badge_count":${badge},` +
		`"is_muted":${muted},"notification_level":"${level}","revision":${revision},"position":"`;
	const text = `${before}${NO_STAMP}${NO_STAMP}"${capped ? ',"unread_count_is_capped":true' : ''}},`;
	const shown = { unread, unreadDisplay, mentions, badge, muted, level, revision, capped };
	return { ...shown, bytes: Uint8Array.from(Buffer.from(text, 'latin1')), positionAt: before.length };
}
