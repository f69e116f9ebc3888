import { compatibilityPartitioner } from '@platformatic/kafka';

/** Hashing a key costs more than looking it up, and the same conversations are posted to again and again. */
const MOST_REMEMBERED = 20_000;
const hashes = new Map<string, number>();

function hashOf(key: string): number {
	const known = hashes.get(key);
	if (known !== undefined) return known;
	const hash = compatibilityPartitioner({ topic: '' }, Buffer.from(key));
	if (hashes.size >= MOST_REMEMBERED) hashes.clear();
	hashes.set(key, hash);
	return hash;
}

/** Which partition a key belongs to: as Kafka's own tools and clients reckon it, so that they can find it. */
export const partitionOf = (key: string, partitions: number): number => hashOf(key) % partitions;

export const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

export const partitionNumber = (name: string): number => Number(name.slice(name.lastIndexOf('/') + 1));
