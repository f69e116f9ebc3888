/**
 * Records which worker publishes for a partition of the log, and how far it has published. Stored where events are published.
 *
 * A worker that lost its partition without noticing (paused, or cut off from Kafka) has an older generation than the next owner: its
 * events are dropped once the next owner has published to the same topic. If a worker died between storing and publishing,
 * the next owner detects it: the store is ahead of `published`.
 */
export interface PublicationRecord {
	/**
	 * Makes this process the publisher of the partition, with a generation higher than all before. `stored`: the store has all effects
	 * below this offset. Lowers recorded offsets that exceed `stored` to `stored`: they belong to an earlier log, or the new owner
	 * publishes again from there.
	 */
	claim(
		partition: string,
		stored: number,
	): Promise<{
		readonly generation: number;
		/** All events below this offset are published; null if unknown. */
		readonly published: number | null;
		/** The whole read state was reloaded after the effects below this offset were persisted, so it has them. */
		readonly reloaded: number;
	}>;
	/** All events below this offset are published. Resolves to false, without effect, if a later owner has claimed the partition. */
	published(partition: string, generation: number, offset: number): Promise<boolean>;
	/** Call it before all of the read state is reloaded from the store, which has all effects below these offsets. */
	reloading(offsets: ReadonlyMap<string, number>): Promise<void>;
	/**
	 * A stored change may never have been published: earlier positions become invalid, so that clients reload when they resume. Unless the
	 * read state is known to have the change, the read state is rebuilt as well.
	 */
	invalidatePositions(isInReadState: boolean): Promise<void>;
}
