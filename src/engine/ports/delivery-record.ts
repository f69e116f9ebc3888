/**
 * Which worker publishes for a partition of the log, and how far that has got. Kept where messages are published.
 *
 * A worker that lost its partition without knowing (paused, cut off) has an older generation than the next owner: what it
 * publishes is dropped once the next owner has published to the same topic. What is stored and was never published (the
 * worker died in between) is found by the next owner: the store is further than `delivered`.
 */
export interface DeliveryRecord {
	/** This process publishes for the partition from now on. Its generation is higher than any before it. */
	claim(partition: string): Promise<{
		readonly generation: number;
		/** Everything below this offset was published; null where nothing is known. */
		readonly delivered: number | null;
	}>;
	/** Everything below this offset was published. False, and ignored: a later owner has claimed the partition. */
	delivered(partition: string, generation: number, offset: number): Promise<boolean>;
	/** Something stored may never have been published: all clients have to reload. */
	announceMissed(): Promise<void>;
}
