import type { JsonObject } from '../../protocol/objects.ts';
import type { UserCall } from './method.ts';

/**
 * How large answers get: 4 MB, then a cursor. Most are far smaller and are made at once. One that turns out not to be small is
 * made again behind a gate, a few at a time, since making it takes several times its size.
 */

export const MOST_ANSWER_BYTES = 4_000_000;
const SMALL_BYTES = 256 * 1024;

export interface Sized {
	readonly answer: JsonObject;
	/** There was more, and no room for it. */
	readonly isCut: boolean;
}

export async function sized(
	{ services, caller }: UserCall,
	make: (mostBytes: number) => Promise<Sized>,
): Promise<JsonObject> {
	const small = await make(SMALL_BYTES);
	if (!small.isCut) return small.answer;
	const large = await services.largeReads.run(caller.user.id, () => make(MOST_ANSWER_BYTES));
	return large.answer;
}

/** A character takes up to six in JSON; the rest is what every message has. */
const MOST_GROWTH = 6;
const MOST_OF_A_VIEW = 1_000;

/** Of an object made of so many bytes of text: an upper bound where that is enough, its true size otherwise. */
export function jsonBytes(view: JsonObject, textBytes: number, enough: number): number {
	const most = textBytes * MOST_GROWTH + MOST_OF_A_VIEW;
	return most <= enough ? most : Buffer.byteLength(JSON.stringify(view));
}
