import { Refusal } from '../model/errors.ts';
import { Buckets, type Rate } from './limits.ts';

/**
 * Requests without a valid token, by the address that they come from. An address that was refused too often is not looked up
 * any more; users whose tokens were verified here before, and are remembered, are served all the same. Without an address (a proxy that names no client)
 * nothing is limited here.
 */
export class Strangers {
	private readonly refused: Buckets;

	constructor(rate: Rate, nowMs: () => number) {
		this.refused = new Buckets(rate, nowMs, () => 0);
	}

	/** For how many whole seconds this address has to wait; 0: not at all. */
	waitOf(address: string | null): number {
		return address === null ? 0 : this.refused.peek(address);
	}

	/** Throws a Refusal when this address has to wait. */
	admit(address: string | null): void {
		const wait = this.waitOf(address);
		if (wait > 0)
			throw new Refusal('ratelimited', 'too many requests without a valid token from this address', wait);
	}

	failed(address: string | null): void {
		if (address !== null) this.refused.take(address);
	}
}
