import type { Process } from '../scheduler.ts';
import type { SimulatedLog } from './log.ts';

/**
 * Which member of a consumer group owns which partition, as the brokers see it. A member that is silent for too long loses its partitions,
 * whether it knows that or not. A member whose partition moves has some time to release it.
 */

const SESSION_MS = 6_000;
const RELEASE_MS = 10_000;

export interface Assignment {
	/** False: the member was expelled, and its partitions were reassigned. */
	readonly isKnown: boolean;
	readonly partitions: readonly string[];
}

export class Group {
	/** The time of the last heartbeat of each member. */
	private readonly members = new Map<Process, number>();
	private readonly owners = new Map<string, Process>();
	/** The members that the newest rebalance chose: each becomes the owner when the current owner has released the partition. */
	private readonly wanted = new Map<string, Process>();
	private readonly revokedAt = new Map<string, number>();
	private turn = 0;

	constructor(
		private readonly log: SimulatedLog,
		private readonly partitions: readonly string[],
	) {}

	join(member: Process): void {
		this.members.set(member, this.log.scheduler.now);
		this.rebalance();
	}

	ownerOf(partition: string): Process | undefined {
		return this.owners.get(partition);
	}

	/** Reassigns every partition to the next member. */
	shuffle(): void {
		this.turn += 1;
		this.rebalance();
	}

	/** Records a heartbeat and returns the partitions of the member. `held`: partitions that it has not released. */
	heartbeat(member: Process, held: ReadonlySet<string>): Assignment {
		const isKnown = this.members.has(member);
		if (isKnown) this.members.set(member, this.log.scheduler.now);
		this.expel();
		for (const partition of this.partitions) this.handOver(partition, member, held);
		return { isKnown, partitions: this.partitions.filter((one) => this.isFor(one, member)) };
	}

	private isFor(partition: string, member: Process): boolean {
		return this.owners.get(partition) === member && this.wanted.get(partition) === member;
	}

	private handOver(partition: string, member: Process, held: ReadonlySet<string>): void {
		const [owner, wanted] = [this.owners.get(partition), this.wanted.get(partition)];
		if (!wanted || owner === wanted) return;
		const isFree = !owner || !this.members.has(owner) || (owner === member && !held.has(partition));
		const isLate = this.log.scheduler.now - (this.revokedAt.get(partition) ?? 0) > RELEASE_MS;
		if (isFree || isLate) this.owners.set(partition, wanted);
	}

	private expel(): void {
		const silent = [...this.members].filter(([, at]) => this.log.scheduler.now - at > SESSION_MS);
		for (const [member] of silent) this.members.delete(member);
		if (silent.length > 0) this.rebalance();
	}

	private rebalance(): void {
		const members = [...this.members.keys()];
		for (const [index, partition] of this.partitions.entries()) {
			const wanted = members[(index + this.turn) % Math.max(1, members.length)];
			if (!wanted || this.wanted.get(partition) === wanted) continue;
			this.wanted.set(partition, wanted);
			this.revokedAt.set(partition, this.log.scheduler.now);
		}
	}
}
