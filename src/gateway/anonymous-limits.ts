import { Rejection } from '../model/errors.ts';
import { Buckets, type Rate } from './limits.ts';

/**
 * Limits requests without a valid token, by address. While an address has too many failures, the gateway looks up no
 * tokens for it; requests with a cached token are still served. Requests without an address (from a proxy that names
 * no client) are not limited.
 */
export class AnonymousLimits {
	private readonly failures: Buckets;

	constructor(rate: Rate, nowMs: () => number) {
		this.failures = new Buckets(rate, nowMs, () => 0);
	}

	/** The whole seconds that this address has to wait; 0: not at all. */
	waitOf(address: string | null): number {
		return address === null ? 0 : this.failures.peek(address);
	}

	/** Throws a Rejection if this address has to wait. */
	admit(address: string | null): void {
		const wait = this.waitOf(address);
		if (wait > 0)
			throw new Rejection('ratelimited', 'too many requests without a valid token from this address', wait);
	}

	failed(address: string | null): void {
		if (address !== null) this.failures.take(address);
	}
}
