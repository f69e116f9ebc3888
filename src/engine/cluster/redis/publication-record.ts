import type { PublicationRecord } from '../../ports/publication-record.ts';
import type { Commands } from './connection.ts';
import type { Epochs } from './epochs.ts';
import type { Keys } from './keys.ts';

/** The publication record in Redis. */
export class RedisPublicationRecord implements PublicationRecord {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly epochs: Epochs,
		private readonly nowMicros: () => number,
	) {}

	async claim(partition: string, stored: number) {
		const [generation, published, reloaded] = (await this.commands.claim(
			this.keys.partition(partition),
			stored,
		)) as [string, string | null, string | null];
		return {
			generation: Number(generation),
			published: published === null ? null : Number(published),
			reloaded: Number(reloaded ?? 0),
		};
	}

	async published(partition: string, generation: number, offset: number): Promise<boolean> {
		return (await this.commands.published(this.keys.partition(partition), generation, offset)) === 1;
	}

	async reloading(offsets: ReadonlyMap<string, number>): Promise<void> {
		await Promise.all(
			[...offsets].map(([partition, offset]) =>
				this.commands.hset(this.keys.partition(partition), 'reloaded', offset),
			),
		);
	}

	/**
	 * A change that was stored but not published may not have been applied either, even on a Redis node that lost no data: then all nodes
	 * are rebuilt.
	 */
	async invalidatePositions(isInReadState: boolean): Promise<void> {
		await this.epochs.invalidateBefore(this.nowMicros());
		if (!isInReadState) await this.epochs.endAll();
	}
}
