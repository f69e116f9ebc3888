/** Which of a cluster's 16,384 slots a hash tag falls into: CRC16 (XMODEM), as Redis Cluster defines it. */

export const SLOTS = 16_384;

export function slotOf(tag: string): number {
	let crc = 0;
	for (const byte of new TextEncoder().encode(tag)) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
		crc &= 0xffff;
	}
	return crc % SLOTS;
}

/** Tags in slots that are spread evenly, so that every node with a fair share of slots has one. */
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
