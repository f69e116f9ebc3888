import { compatibilityPartitioner } from '@platformatic/kafka';

/** Which partition a key belongs to: as Kafka's own tools and clients reckon it, so that they can find it. */
export const partitionOf = (key: string, partitions: number): number =>
	compatibilityPartitioner({ topic: '' }, Buffer.from(key)) % partitions;

export const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

export const partitionNumber = (name: string): number => Number(name.slice(name.lastIndexOf('/') + 1));
