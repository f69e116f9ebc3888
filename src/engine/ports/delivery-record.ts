/**
 * Records which worker publishes for a partition of the log, and how far it has published. Stored where events are published.
 *
 * A worker that lost its partition without noticing (paused, partitioned) has an older generation than the next owner: its
 * events are dropped once the next owner has published to the same topic. If a worker died between storing and publishing,
 * the next owner detects it: the store is ahead of `delivered`.
 */
export interface DeliveryRecord {
	/** Makes this process the publisher of the partition, with a generation higher than all before. */
	claim(partition: string): Promise<{
		readonly generation: number;
		/** All events below this offset are published; null if unknown. */
		readonly delivered: number | null;
	}>;
	/** All events below this offset are published. Resolves to false, without effect, if a later owner has claimed the partition. */
	delivered(partition: string, generation: number, offset: number): Promise<boolean>;
	/** A stored change may never have been published: all clients have to reload. */
	announceMissed(): Promise<void>;
}
