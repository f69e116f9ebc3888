import type { Cluster, Redis } from 'ioredis';

/** The slot of a hash tag, among the 16,384 of a cluster: CRC16 (XMODEM), as Redis Cluster defines it. */

export const SLOTS = 16_384;

/** CRC of each byte value. */
const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
	let crc = byte << 8;
	for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
	return crc;
});

const utf8 = new TextEncoder();

export function slotOf(tag: string): number {
	let crc = 0;
	for (const byte of utf8.encode(tag)) crc = ((crc << 8) & 0xffff) ^ (CRC_TABLE[(crc >> 8) ^ byte] as number);
	return crc % SLOTS;
}

/** Tags in evenly spread slots, so that every node with a fair share of slots has one. */
export function spreadTags(count: number): string[] {
	const tags: string[] = [];
	const found = new Set<number>();
	for (let number = 0; found.size < count; number += 1) {
		const tag = `e${number}`;
		const part = Math.floor((slotOf(tag) * count) / SLOTS);
		if (found.has(part)) continue;
		found.add(part);
		tags.push(tag);
	}
	return tags;
}

/** Returns the node of a slot, as far as the client knows; always the same for a single Redis. */
export function nodesOf(client: Redis | Cluster): (slot: number) => string {
	if (!('slots' in client)) return () => '';
	return (slot) => client.slots[slot]?.[0] ?? String(slot);
}
