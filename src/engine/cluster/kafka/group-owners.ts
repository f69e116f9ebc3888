import { Admin, findErrorBy } from '@platformatic/kafka';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';

/** Asks Kafka which partitions of a topic have an owner in a group; this process need not be a member. */

const REQUEST_MS = 5_000;
const CLOSE_MS = 2_000;
const WITHOUT_MEMBERS = new Set(['Empty', 'Dead', 'EMPTY', 'DEAD']);
const SETTLED = new Set(['Stable', 'STABLE']);

export class GroupOwners {
	private admin: Admin | null = null;

	constructor(
		private readonly connection: KafkaConnection,
		private readonly group: string,
		private readonly topic: string,
		private readonly partitions: number,
	) {}

	/** Numbers of partitions without an owner; null if unknown, as during a rebalance. */
	async unowned(): Promise<readonly number[] | null> {
		const all = Array.from({ length: this.partitions }, (_, number) => number);
		this.admin ??= new Admin({ ...clientOptions(this.connection), requestTimeout: REQUEST_MS, retries: 0 });
		try {
			const group = (await this.admin.describeGroups({ groups: [this.group] })).get(this.group);
			if (!group || WITHOUT_MEMBERS.has(group.state)) return all;
			if (!SETTLED.has(group.state)) return null;
			const owned = new Set(
				[...group.members.values()].flatMap(
					({ assignments }) => assignments?.get(this.topic)?.partitions ?? [],
				),
			);
			return all.filter((number) => !owned.has(number));
		} catch (error) {
			if (error instanceof Error && findErrorBy(error, 'apiId', 'GROUP_ID_NOT_FOUND')) return all;
			// Leaders and coordinators may have changed.
			this.admin.clearMetadata();
			return null;
		}
	}

	async close(): Promise<void> {
		await settleWithin(CLOSE_MS, async () => this.admin?.close());
	}
}
