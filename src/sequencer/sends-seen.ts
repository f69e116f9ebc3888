/**
 * A filter of recent sends with a `client_msg_id`. A key that is not in it was certainly not sent, and no lookup is
 * needed; a key in it may have been sent, and is looked up.
 *
 * It keeps a 53-bit hash of each key, in two halves. The old half is dropped when the young half is full or was begun more than
 * `REPEAT_WINDOW_MICROS` ago, but only once the sends of the old half are durable, because later lookups go to the store.
 */

/** How long a repeated send is recognised. */
export const REPEAT_WINDOW_MICROS = 24 * 3600 * 1e6;
const HALF_SIZE = 32_768;

export class SendsSeen {
	private young = new Set<number>();
	private old = new Set<number>();
	private youngAfter: number;

	/** Covers sends after `after`. The caller adds the stored sends, up to `until`; each later post adds its own. */
	constructor(
		private after: number,
		until = after,
	) {
		this.youngAfter = until;
	}

	add(key: string, ts: number): void {
		(ts > this.youngAfter ? this.young : this.old).add(hashOf(key));
	}

	/** Whether the key may have been sent after this stamp. */
	mayHave(key: string, after: number): boolean {
		if (after < this.after) return true;
		const number = hashOf(key);
		return this.young.has(number) || this.old.has(number);
	}

	/** Call between commands: `stamp` is the newest change, `durable` the newest durable one. */
	evictOld(stamp: number, durable: number): void {
		const isDue = this.young.size >= HALF_SIZE || stamp - this.youngAfter > REPEAT_WINDOW_MICROS;
		if (!isDue || this.youngAfter > durable) return;
		this.old = this.young;
		this.young = new Set();
		this.after = this.youngAfter;
		this.youngAfter = stamp;
	}
}

/** Two different 32-bit hashes, cut to the 53 bits that a double holds exactly. */
function hashOf(text: string): number {
	let [high, low] = [0x811c9dc5, 0x9747b28c];
	for (let index = 0; index < text.length; index += 1) {
		const code = text.charCodeAt(index);
		high = Math.imul(high ^ code, 0x01000193);
		low = Math.imul(low + code, 0x5bd1e995);
		low ^= low >>> 15;
	}
	return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
