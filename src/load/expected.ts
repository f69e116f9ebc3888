import { COUNT_CAP } from '../model/counting.ts';

/** The unread count that follows from what was sent and marked. Pure. */

export interface Sent {
	readonly author: number;
	/** Undefined: the outcome of the post is unknown. */
	readonly ts: string | undefined;
}

/** The furthest marks of a user in a conversation; empty: none. */
export interface Marked {
	readonly acknowledged: string;
	/** May have been applied without an answer. */
	readonly tried: string;
}

/** The range of possible counts; one number if everything is known. */
export interface Expected {
	readonly least: number;
	readonly most: number;
}

export const NO_MARKS: Marked = { acknowledged: '', tried: '' };

export function expectedUnread(
	sent: readonly Sent[],
	reader: number,
	{ acknowledged, tried }: Marked,
): Expected {
	let least = 0;
	let most = 0;
	for (const { author, ts } of sent) {
		if (author === reader) continue;
		if (ts !== undefined && ts > tried) least += 1;
		if (ts === undefined || ts > acknowledged) most += 1;
	}
	return { least: Math.min(least, COUNT_CAP), most: Math.min(most, COUNT_CAP) };
}

export type Verdict = 'exact' | 'unclear' | 'wrong';

export function judge(count: number | undefined, { least, most }: Expected): Verdict {
	if (count === undefined || count < least || count > most) return 'wrong';
	return least === most ? 'exact' : 'unclear';
}
