import { type Bits, bitsOf, IPV4_PREFIX, isIn, type Network } from '../../protocol/networks.ts';

/**
 * Finds the address of a client, to identify requests without a token. Trusted proxies name it in X-Forwarded-For:
 * the last address there that is not a trusted proxy counts, because clients may forge earlier ones.
 */

const MAX_FORWARDED_CHARACTERS = 4_096;

/** Null: the peer is unknown, or a trusted proxy that names no client, so clients cannot be distinguished. */
export function clientAddress(
	peer: string | null,
	forwarded: string | null,
	trusted: readonly Network[],
): string | null {
	const bits = peer === null ? undefined : bitsOf(peer);
	if (bits === undefined) return null;
	if (!isIn(bits, trusted)) return limitKey(bits);
	const hops = (forwarded ?? '').slice(-MAX_FORWARDED_CHARACTERS).split(',');
	for (const hop of hops.reverse()) {
		const client = bitsOf(withoutPort(hop.trim()));
		if (client === undefined) return null;
		if (!isIn(client, trusted)) return limitKey(client);
	}
	return null;
}

/** Some proxies add the port of an IPv4 address. */
const withoutPort = (hop: string): string => hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');

/** A household or machine has a whole /64 of IPv6, which counts as one address. */
function limitKey(bits: Bits): string {
	const isV4 = bits >> 32n === IPV4_PREFIX >> 32n;
	return isV4 ? `v4:${(bits & 0xffff_ffffn).toString(16)}` : `v6:${(bits >> 64n).toString(16)}`;
}
