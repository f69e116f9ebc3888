import { isIP } from 'node:net';

/** Internet addresses as numbers, so that every spelling of an address is in the same networks. Pure. */

/** An address as a 128-bit number; IPv4 is mapped into IPv6. */
export type Bits = bigint;

export interface Network {
	/** The bits of the network, shifted right by `shift`. */
	readonly prefix: Bits;
	readonly shift: bigint;
}

export const IPV4_PREFIX = 0xffff_0000_0000n;

/** Undefined if the text is not an address. */
export function bitsOf(text: string): Bits | undefined {
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

export const isIn = (bits: Bits, networks: readonly Network[]): boolean =>
	networks.some(({ prefix, shift }) => bits >> shift === prefix);

/** For networks that the code names. */
export function networks(...texts: readonly string[]): readonly Network[] {
	return texts.map((text) => {
		const network = networkOf(text);
		if (!network) throw new Error(`${text} is not a network`);
		return network;
	});
}
