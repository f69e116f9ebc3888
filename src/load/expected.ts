import { COUNT_CAP } from '../model/counting.ts';

/** The unread count that follows from what was sent and marked. Pure. */

export interface Sent {
	readonly author: number;
	/** Undefined: the outcome of the post is unknown. */
	readonly ts: string | undefined;
}

/** The furthest marks of a user in a conversation; empty: none. */
export interface FurthestMarks {
	readonly acknowledged: string;
	/** May have been applied without an answer. */
	readonly tried: string;
}

/** The range of possible counts; one number if everything is known. */
export interface Expected {
	readonly min: number;
	readonly max: number;
}

export const NO_MARKS: FurthestMarks = { acknowledged: '', tried: '' };

export function expectedUnread(
	sent: readonly Sent[],
	reader: number,
	{ acknowledged, tried }: FurthestMarks,
): Expected {
	let min = 0;
	let max = 0;
	for (const { author, ts } of sent) {
		if (author === reader) continue;
		if (ts !== undefined && ts > tried) min += 1;
		if (ts === undefined || ts > acknowledged) max += 1;
	}
	return { min: Math.min(min, COUNT_CAP), max: Math.min(max, COUNT_CAP) };
}

export type CountVerdict = 'exact' | 'unclear' | 'wrong';

export function judge(count: number | undefined, { min, max }: Expected): CountVerdict {
	if (count === undefined || count < min || count > max) return 'wrong';
	return min === max ? 'exact' : 'unclear';
}
