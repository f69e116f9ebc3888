import { Refusal } from '../model/errors.ts';
import { Buckets, type Rate } from './limits.ts';

/**
 * Limits requests without a valid token, by address. An address with too many failures must wait before its tokens
 * are looked up again; users whose tokens are still cached are served. Requests without an address (from a proxy
 * that names no client) are not limited.
 */
export class AnonymousLimits {
	private readonly refused: Buckets;

	constructor(rate: Rate, nowMs: () => number) {
		this.refused = new Buckets(rate, nowMs, () => 0);
	}

	/** The whole seconds that this address has to wait; 0: not at all. */
	waitOf(address: string | null): number {
		return address === null ? 0 : this.refused.peek(address);
	}

	/** Throws a Refusal if this address has to wait. */
	admit(address: string | null): void {
		const wait = this.waitOf(address);
		if (wait > 0)
			throw new Refusal('ratelimited', 'too many requests without a valid token from this address', wait);
	}

	failed(address: string | null): void {
		if (address !== null) this.refused.take(address);
	}
}
