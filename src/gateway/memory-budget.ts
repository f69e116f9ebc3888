/**
 * Limits the memory that clients occupy with request bodies and large answers: in total, and for each key (a user, or
 * the address of a request whose user is unknown). When the total is used up, the oldest hold of the largest key is evicted;
 * if the new hold would make its own key the largest, the new hold is rejected instead, and nothing is evicted. So one client
 * cannot lock out others.
 *
 * A sweep ends holds that last too long.
 */

export interface Hold {
	release(): void;
}

/** Called once when the budget ended a hold; the hold is released by then. */
export type Ended = (reason: 'evicted' | 'expired') => void;

interface Held extends Hold {
	readonly key: string;
	readonly bytes: number;
	readonly until: number;
	readonly ended: Ended;
}

interface Holder {
	bytes: number;
	/** Oldest first. */
	readonly holds: Set<Held>;
}

export interface BudgetOptions {
	readonly totalBytes: number;
	/** Limit for one key. A key without holds may hold one item of any size. */
	readonly shareBytes: number;
	readonly nowMs: () => number;
}

export class MemoryBudget {
	private readonly holders = new Map<string, Holder>();
	private total = 0;

	constructor(private readonly options: BudgetOptions) {}

	get heldBytes(): number {
		return this.total;
	}

	/** Returns null if there is no room. */
	hold(key: string, bytes: number, forMs: number, ended: Ended): Hold | null {
		const { totalBytes, shareBytes, nowMs } = this.options;
		const mine = this.holders.get(key)?.bytes ?? 0;
		if (mine > 0 && mine + bytes > shareBytes) return null;
		const evicted = this.total + bytes > totalBytes ? this.evictedFor(bytes, mine + bytes) : [];
		if (!evicted) return null;
		for (const held of evicted) this.end(held, 'evicted');
		const held: Held = { key, bytes, until: nowMs() + forMs, ended, release: () => this.remove(held) };
		const holder = this.holders.get(key) ?? { bytes: 0, holds: new Set() };
		holder.bytes += bytes;
		holder.holds.add(held);
		this.holders.set(key, holder);
		this.total += bytes;
		return held;
	}

	/** Ends expired holds; call it periodically. */
	sweep(): void {
		const now = this.options.nowMs();
		for (const { holds } of this.holders.values())
			for (const held of holds) if (held.until <= now) this.end(held, 'expired');
	}

	/** The holds to evict for a new one of this size; null if its key, with `keyBytes` in total, would become the largest. */
	private evictedFor(newBytes: number, keyBytes: number): readonly Held[] | null {
		const left = [...this.holders.values()].map(({ bytes, holds }) => ({ bytes, holds: holds.values() }));
		const evicted: Held[] = [];
		let total = this.total;
		while (total > 0 && total + newBytes > this.options.totalBytes) {
			const largest = left.reduce((one, other) => (other.bytes > one.bytes ? other : one));
			const oldest = largest.holds.next().value;
			if (largest.bytes <= keyBytes || !oldest) return null;
			evicted.push(oldest);
			largest.bytes -= oldest.bytes;
			total -= oldest.bytes;
		}
		return evicted;
	}

	private end(held: Held, reason: Parameters<Ended>[0]): void {
		if (this.remove(held)) held.ended(reason);
	}

	private remove(held: Held): boolean {
		const holder = this.holders.get(held.key);
		if (!holder?.holds.delete(held)) return false;
		holder.bytes -= held.bytes;
		this.total -= held.bytes;
		if (holder.holds.size === 0) this.holders.delete(held.key);
		return true;
	}
}
