import type { Bus } from '../../ports/bus.ts';
import type { DeliveryRecord } from '../../ports/delivery-record.ts';
import type { Commands } from './connection.ts';
import type { Epoch } from './epoch.ts';
import type { Keys } from './keys.ts';

/** The delivery record in Redis. */
export class RedisDeliveryRecord implements DeliveryRecord {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly epoch: Epoch,
		private readonly bus: Bus,
		private readonly nowMicros: () => number,
	) {}

	async claim(partition: string) {
		const [generation, delivered, reloaded] = (await this.commands.claim(this.keys.partition(partition))) as [
			string,
			string | null,
			string | null,
		];
		return {
			generation: Number(generation),
			delivered: delivered === null ? null : Number(delivered),
			reloaded: Number(reloaded ?? 0),
		};
	}

	async delivered(partition: string, generation: number, offset: number): Promise<boolean> {
		return (await this.commands.delivered(this.keys.partition(partition), generation, offset)) === 1;
	}

	async reloading(offsets: ReadonlyMap<string, number>): Promise<void> {
		await Promise.all(
			[...offsets].map(([partition, offset]) =>
				this.commands.hset(this.keys.partition(partition), 'reloaded', offset),
			),
		);
	}

	/**
	 * First invalidates older positions, then makes all connected clients resync. A change that was stored but not published may not have
	 * been applied either, even on a Redis node that lost no data: then all nodes are rebuilt.
	 */
	async announceMissed(isInReadState: boolean): Promise<void> {
		await this.epoch.invalidateBefore(this.nowMicros());
		if (!isInReadState) await this.epoch.endAll();
		this.bus.publish('gateways:all', { type: 'missed' });
	}
}
