import { compatibilityPartitioner } from '@platformatic/kafka';

/** Caches hashes: a lookup is cheaper, and the same conversations are posted to again and again. */
const MAX_CACHED = 20_000;
const hashes = new Map<string, number>();

function hashOf(key: string): number {
	const known = hashes.get(key);
	if (known !== undefined) return known;
	const hash = compatibilityPartitioner({ topic: '' }, Buffer.from(key));
	if (hashes.size >= MAX_CACHED) hashes.clear();
	hashes.set(key, hash);
	return hash;
}

/** The partition of a key, computed as Kafka's own tools and clients do, so that they find a key's records too. */
export const partitionOf = (key: string, partitions: number): number => hashOf(key) % partitions;

export const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

export const partitionNumber = (name: string): number => Number(name.slice(name.lastIndexOf('/') + 1));
