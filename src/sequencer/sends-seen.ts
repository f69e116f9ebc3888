/**
 * Which sends with a `client_msg_id` there may have been lately: what is not in here was not sent, and nobody has to be asked.
 * What is in here may have been; then the send itself is looked up.
 *
 * Only a number of 53 bits is kept of each, in two generations. The older one is dropped when the younger is full, or all of
 * it too old to matter; and only when the store has it, because from then on the store is asked.
 */

/** For how long a repeated send is recognised. */
export const REPEAT_WINDOW_MICROS = 24 * 3600 * 1e6;
const GENERATION_SIZE = 32_768;

export class SendsSeen {
	private young = new Set<number>();
	private old = new Set<number>();
	private youngAfter: number;

	/** Of everything sent after this stamp nothing is missing, once what was sent up to `until` is added. */
	constructor(
		private after: number,
		until = after,
	) {
		this.youngAfter = until;
	}

	add(key: string, ts: number): void {
		(ts > this.youngAfter ? this.young : this.old).add(numberOf(key));
	}

	/** Whether it may have been sent after this stamp. */
	mayHave(key: string, after: number): boolean {
		if (after < this.after) return true;
		const number = numberOf(key);
		return this.young.has(number) || this.old.has(number);
	}

	/** Called between commands: `stamp` is the newest change made, `durable` the newest that is stored. */
	turn(stamp: number, durable: number): void {
		const isFull = this.young.size >= GENERATION_SIZE || stamp - this.youngAfter > REPEAT_WINDOW_MICROS;
		if (!isFull || this.youngAfter > durable) return;
		this.old = this.young;
		this.young = new Set();
		this.after = this.youngAfter;
		this.youngAfter = stamp;
	}
}

/** Two hashes of 32 bits that differ in how they mix, of which 53 bits are kept: a number is exact up to there. */
function numberOf(text: string): number {
	let [high, low] = [0x811c9dc5, 0x9747b28c];
	for (let index = 0; index < text.length; index += 1) {
		const code = text.charCodeAt(index);
		high = Math.imul(high ^ code, 0x01000193);
		low = Math.imul(low + code, 0x5bd1e995);
		low ^= low >>> 15;
	}
	return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
