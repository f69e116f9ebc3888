import { expect, test } from 'bun:test';
import { clientAddress } from '../../src/gateway/http/client-address.ts';
import { networkOf, networks } from '../../src/protocol/networks.ts';

const TRUSTED = networks('127.0.0.0/8', '::1', '10.0.0.0/8');

test('the peer’s address is used unless the peer is a trusted proxy, whatever it forwards', () => {
	const direct = clientAddress('203.0.113.9', null, TRUSTED);
	expect(direct).not.toBeNull();
	expect(clientAddress('203.0.113.9', '198.51.100.1', TRUSTED)).toBe(direct);
	expect(clientAddress('::ffff:203.0.113.9', null, TRUSTED)).toBe(direct);
});

test('behind trusted proxies, the last address that is not a trusted proxy is used', () => {
	const client = clientAddress('198.51.100.1', null, TRUSTED);
	expect(clientAddress('127.0.0.1', '198.51.100.1', TRUSTED)).toBe(client);
	expect(clientAddress('::1', '192.0.2.7, 198.51.100.1, 10.1.2.3', TRUSTED)).toBe(client);
	expect(clientAddress('127.0.0.1', '198.51.100.1:4711', TRUSTED)).toBe(client);
});

test('a trusted proxy that names no client gives no address', () => {
	expect(clientAddress('127.0.0.1', null, TRUSTED)).toBeNull();
	expect(clientAddress('127.0.0.1', 'unknown', TRUSTED)).toBeNull();
	expect(clientAddress('127.0.0.1', '10.0.0.1', TRUSTED)).toBeNull();
	expect(clientAddress(null, '198.51.100.1', TRUSTED)).toBeNull();
});

test('a /64 of IPv6 counts as one address', () => {
	const one = clientAddress('2001:db8:1:2::1', null, TRUSTED);
	expect(clientAddress('2001:db8:1:2:ffff::9', null, TRUSTED)).toBe(one);
	expect(clientAddress('2001:db8:1:3::1', null, TRUSTED)).not.toBe(one);
	expect(clientAddress('127.0.0.1', '[2001:db8:1:2::5]:443', TRUSTED)).toBe(one);
});

test('an invalid network is rejected', () => {
	for (const text of ['', 'a', '10.0.0.0/33', '10.0.0.0/x', '::/129', '1.2.3', '10.0.0.0/8/8x', '10.0.0.0/'])
		expect({ text, network: networkOf(text) }).toEqual({ text, network: undefined });
	expect(clientAddress('10.9.9.9', null, networks('0.0.0.0/0'))).toBeNull();
});
