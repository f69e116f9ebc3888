import type { JsonObject } from '../../protocol/objects.ts';
import type { UserCall } from './method.ts';

/**
 * Limits answers to 4 MB; if the method has pages, a page cursor leads to the rest. Most answers are small and are built directly.
 * A larger answer is built again behind a gate that admits a few at a time, because building takes several times its size in memory.
 */

export const MAX_ANSWER_BYTES = 4_000_000;
const SMALL_BYTES = 256 * 1024;

export interface BoundedAnswer {
	readonly answer: JsonObject;
	/** More rows exist than fit. */
	readonly isCut: boolean;
}

export async function boundedAnswer(
	{ services, caller }: UserCall,
	make: (mostBytes: number) => Promise<BoundedAnswer>,
): Promise<JsonObject> {
	const small = await make(SMALL_BYTES);
	if (!small.isCut) return small.answer;
	const large = await services.largeReads.run(caller.user.id, () => make(MAX_ANSWER_BYTES));
	return large.answer;
}

/** In JSON, one byte of text takes up to six bytes. The other fields of a message take up to about 1,000 bytes. */
const MAX_GROWTH = 6;
const FIXED_FIELDS_BYTES = 1_000;

/** Estimates an upper bound of the JSON size from `textBytes`. Returns it if it is at most `enough`; otherwise measures the exact size. */
export function jsonBytes(object: JsonObject, textBytes: number, enough: number): number {
	const upperBound = textBytes * MAX_GROWTH + FIXED_FIELDS_BYTES;
	return upperBound <= enough ? upperBound : Buffer.byteLength(JSON.stringify(object));
}
