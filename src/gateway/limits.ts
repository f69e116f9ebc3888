/**
 * Rate limits per user, as token buckets. A bucket is one number, the time at which it would be full again, so a
 * check is O(1). A full bucket needs no entry, so entries age: using a bucket puts its entry into the young map, the
 * young map becomes the old one after a while, and the old map is dropped when all its buckets are full again.
 */

export interface Rate {
	/** 0 switches the limit off. */
	readonly perSecond: number;
	readonly burst: number;
	/** Spreads the retry time by up to this many whole seconds, so that rejected clients do not return together. */
	readonly jitterSeconds?: number;
}

export interface Rates {
	readonly requests: Rate;
	readonly posts: Rate;
	readonly connects: Rate;
}

export type Limited = keyof Rates;

const MIN_ROTATE_MS = 1000;

export class Limits {
	private readonly buckets: Readonly<Record<Limited, Buckets>>;

	/** `random` returns numbers from 0 up to 1. */
	constructor(rates: Rates, nowMs: () => number, random: () => number) {
		const buckets = (rate: Rate) => new Buckets(rate, nowMs, random);
		this.buckets = {
			requests: buckets(rates.requests),
			posts: buckets(rates.posts),
			connects: buckets(rates.connects),
		};
	}

	/** Takes `cost` tokens. Returns 0, or the whole seconds to wait. */
	take(user: string, what: Limited, cost = 1): number {
		return this.buckets[what].take(user, cost);
	}

	/**
	 * Takes the rest of a call's cost: one token was taken before the cost was known. The total is at most a full bucket, because otherwise
	 * an expensive call could never succeed.
	 */
	takeMore(user: string, what: Limited, more: number): number {
		const buckets = this.buckets[what];
		return buckets.take(user, Math.min(more, buckets.burst - 1));
	}

	/**
	 * Takes what an answered call cost beyond its first token, even if the bucket is empty: the next calls wait, for
	 * no longer than an empty bucket takes to fill.
	 */
	charge(user: string, what: Limited, more: number): void {
		if (more > 0) this.buckets[what].charge(user, more);
	}

	/** Number of buckets of all kinds. */
	get size(): number {
		const { requests, posts, connects } = this.buckets;
		return requests.size + posts.size + connects.size;
	}
}

/** One bucket for each key. */
export class Buckets {
	/** When each bucket will be full again, in ms. */
	private young = new Map<string, number>();
	private old = new Map<string, number>();
	private rotatedAt = Number.NEGATIVE_INFINITY;
	/** Tokens in a full bucket. */
	readonly burst: number;
	private readonly costMs: number;
	private readonly depthMs: number;
	private readonly rotateEveryMs: number;

	constructor(
		private readonly rate: Rate,
		private readonly nowMs: () => number,
		private readonly random: () => number,
	) {
		this.costMs = 1000 / rate.perSecond;
		this.burst = Math.max(1, rate.burst);
		this.depthMs = this.costMs * this.burst;
		// A bucket that `charge` took below zero takes twice its depth to fill.
		this.rotateEveryMs = Math.max(MIN_ROTATE_MS, 2 * this.depthMs);
	}

	get size(): number {
		return this.young.size + this.old.size;
	}

	take(key: string, cost = 1): number {
		if (this.rate.perSecond <= 0) return 0;
		const now = this.nowMs();
		this.rotate(now);
		const fullAt =
			Math.max(this.young.get(key) ?? this.old.get(key) ?? 0, now) +
			Math.min(cost * this.costMs, this.depthMs);
		const waitMs = fullAt - now - this.depthMs;
		// Tolerate rounding errors of the clock.
		if (waitMs <= 1e-6) {
			this.young.set(key, fullAt);
			return 0;
		}
		return Math.max(1, Math.ceil(waitMs / 1000)) + this.jitter();
	}

	/** Takes tokens even if the bucket has too few; it then goes below zero, by at most its own size. */
	charge(key: string, cost: number): void {
		if (this.rate.perSecond <= 0) return;
		const now = this.nowMs();
		this.rotate(now);
		const fullAt = Math.max(this.young.get(key) ?? this.old.get(key) ?? 0, now) + cost * this.costMs;
		this.young.set(key, Math.min(fullAt, now + 2 * this.depthMs));
	}

	/** The whole seconds that `take` of one token would have to wait, without jitter. Takes nothing. */
	peek(key: string): number {
		if (this.rate.perSecond <= 0) return 0;
		const now = this.nowMs();
		const fullAt = Math.max(this.young.get(key) ?? this.old.get(key) ?? 0, now) + this.costMs;
		const waitMs = fullAt - now - this.depthMs;
		return waitMs <= 1e-6 ? 0 : Math.max(1, Math.ceil(waitMs / 1000));
	}

	private jitter(): number {
		return Math.floor(this.random() * ((this.rate.jitterSeconds ?? 0) + 1));
	}

	private rotate(now: number): void {
		if (now - this.rotatedAt < this.rotateEveryMs) return;
		// If the last rotation is two or more periods ago, the young buckets have been unused for a period too, and are dropped.
		this.old = now - this.rotatedAt < 2 * this.rotateEveryMs ? this.young : new Map();
		this.young = new Map();
		this.rotatedAt = now;
	}
}
