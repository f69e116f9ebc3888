import { isIP } from 'node:net';

/**
 * Finds the address of a client, to identify requests without a token. Trusted proxies name it in X-Forwarded-For:
 * the last address there that is not a trusted proxy counts, because clients may forge earlier ones.
 */

/** An address as a 128-bit number; IPv4 is mapped into IPv6. */
type Bits = bigint;

export interface Network {
	/** The bits of the network, shifted right by `shift`. */
	readonly prefix: Bits;
	readonly shift: bigint;
}

const BITS = 128n;
const IPV4_PREFIX = 0xffff_0000_0000n;

/** Undefined if the text is not an address. */
function bitsOf(text: string): Bits | undefined {
	const address = text.startsWith('[') ? text.slice(1, text.indexOf(']')) : text;
	switch (isIP(address)) {
		case 4:
			return IPV4_PREFIX | ipv4(address);
		case 6:
			return ipv6(address);
		default:
			return undefined;
	}
}

const ipv4 = (address: string): Bits =>
	address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(Number(part)), 0n);

function ipv6(address: string): Bits {
	const [bare = ''] = address.split('%', 1);
	const dotted = /(?<=:)\d+\.\d+\.\d+\.\d+$/.exec(bare)?.[0];
	const tail = dotted === undefined ? 0n : ipv4(dotted);
	const text =
		dotted === undefined
			? bare
			: `${bare.slice(0, -dotted.length)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
	const [head = '', rest] = text.split('::');
	const before = head === '' ? [] : head.split(':');
	const after = rest === undefined || rest === '' ? [] : rest.split(':');
	const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
	return [...before, ...zeros, ...after].reduce((bits, part) => (bits << 16n) | BigInt(`0x${part}`), 0n);
}

/** Parses a network (`10.0.0.0/8`) or a single address (`::1`); undefined for anything else. */
export function networkOf(text: string): Network | undefined {
	const [address = '', length, ...more] = text.split('/');
	const bits = bitsOf(address);
	if (bits === undefined || more.length > 0) return undefined;
	const isV4 = isIP(address) === 4;
	const addressBits = isV4 ? 32 : 128;
	const prefixBits = length === undefined ? addressBits : Number(length);
	if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
	if (prefixBits > addressBits) return undefined;
	const shift = BigInt(addressBits - prefixBits);
	return { prefix: bits >> shift, shift };
}

const isIn = (bits: Bits, networks: readonly Network[]): boolean =>
	networks.some(({ prefix, shift }) => bits >> shift === prefix);

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
	return isV4 ? `v4:${(bits & 0xffff_ffffn).toString(16)}` : `v6:${(bits >> (BITS / 2n)).toString(16)}`;
}
