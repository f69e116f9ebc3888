import type { Consumer, GroupAssignment } from '@platformatic/kafka';
import type { Fitness } from '../fitness.ts';
import { assignToFit, subscriptionData } from './assigning.ts';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { LenientConsumer } from './lenient-consumer.ts';

/**
 * Membership in a consumer group, and nothing else: Kafka decides which member consumes which partition. No
 * offsets are committed, and records are not fetched over this connection, where a long poll would delay
 * heartbeats.
 *
 * Assignment is cooperative and sticky: partitions that do not move are consumed without a pause, and those
 * that move are revoked one round (a rebalance of the group) before they are assigned again. Before each round this member
 * releases the partitions that it has lost, so that the next owner finds their effects persisted. In each round a member
 * says whether it is fit, and it starts a round when that changes.
 */

export interface GroupMemberOptions {
	readonly group: string;
	readonly topic: string;
	/** A member that is silent for this long loses its partitions. */
	readonly sessionMs?: number;
	/** How long the next round waits for this member to persist effects; after that, the store fences this member. */
	readonly releaseMs?: number;
	/** Without it, the member is always fit. */
	readonly fitness?: Pick<Fitness, 'verdict' | 'onVerdict'>;
}

export interface Assignments {
	/** Releases all other partitions. The next round waits for it. */
	keepOnly(partitions: readonly number[]): Promise<void>;
	/** These partitions are assigned to this member. */
	assign(partitions: readonly number[]): void;
	report(error: unknown, about: string): void;
}

const SESSION_MS = 10_000;
/** How soon a member notices a new round. */
const HEARTBEAT_MS = 500;
/** How long a round waits for its members. */
const REBALANCE_MS = 20_000;
/** Extra time: a coordinator that has not answered by then hangs. */
const ANSWER_MS = 3_000;
const RELEASE_MS = 10_000;
/** An unfit member cannot persist anything, however long it waits. */
const UNFIT_RELEASE_MS = 2_000;
const REJOIN_MS = 500;
const CLOSE_MS = 5000;
const POLL_MS = 50;
/** The version of the group protocol in which members report what they own, and since when. */
const SUBSCRIPTION_VERSION = 3;

export class GroupMember {
	private readonly consumer: Consumer;
	private closing = false;
	private joining = false;
	/** When the newest confirmed heartbeat was sent. */
	private confirmedAt = Number.NEGATIVE_INFINITY;
	/** What this member reported in the newest round. */
	private reportedFit = true;

	constructor(
		connection: KafkaConnection,
		private readonly options: GroupMemberOptions,
		private readonly assignments: Assignments,
	) {
		const sessionTimeout = options.sessionMs ?? SESSION_MS;
		const rebalanceTimeout = Math.max(REBALANCE_MS, sessionTimeout);
		this.consumer = new LenientConsumer({
			...clientOptions(connection),
			groupId: options.group,
			sessionTimeout,
			rebalanceTimeout,
			requestTimeout: rebalanceTimeout + ANSWER_MS,
			heartbeatInterval: HEARTBEAT_MS,
			protocols: [{ name: 'cooperative-sticky', version: SUBSCRIPTION_VERSION }],
			protocolsMetadata: () => this.beforeRound(),
			partitionAssigner: assignToFit,
			autocommit: false,
		});
		this.consumer.topics.track(options.topic);
		this.consumer.on('consumer:group:join', ({ assignments = [] }) => {
			if (!this.closing) this.assignments.assign(this.numbers(assignments));
			// Outside of the client's own handling of the round.
			setTimeout(() => this.review());
		});
		options.fitness?.onVerdict(() => this.review());
		let sentAt = Number.NEGATIVE_INFINITY;
		this.consumer.on('consumer:heartbeat:start', () => {
			sentAt = performance.now();
		});
		this.consumer.on('consumer:heartbeat:end', () => {
			this.confirmedAt = sentAt;
		});
		// The client stops rejoining if brokers are unavailable for long: keep trying.
		this.consumer.on('error', () => void this.join());
	}

	async join(): Promise<void> {
		if (this.joining) return;
		this.joining = true;
		for (let failures = 0; !this.closing; failures += 1) {
			try {
				await this.consumer.joinGroup({});
				break;
			} catch (error) {
				if (failures === 0 && !this.closing)
					this.assignments.report(error, `joining the group ${this.options.group}`);
				await Bun.sleep(REJOIN_MS);
			}
		}
		this.joining = false;
		this.review();
	}

	/**
	 * Resolves when Kafka has confirmed the membership again. A member that was paused or disconnected does not notice by itself
	 * that it lost its partitions.
	 */
	async confirmed(): Promise<void> {
		const asked = performance.now();
		while (!this.closing && this.confirmedAt < asked) await Bun.sleep(POLL_MS);
	}

	async close(): Promise<void> {
		this.closing = true;
		await this.release([]);
		await settleWithin(CLOSE_MS, () => this.consumer.close(true));
	}

	/** Starts a round if the fitness that this member reported is outdated. A doubtful member waits until it is fit or unfit. */
	private review(): void {
		const verdict = this.options.fitness?.verdict ?? 'fit';
		if (this.closing || verdict === 'doubtful' || (verdict === 'fit') === this.reportedFit) return;
		void this.join();
	}

	/** The client calls it before each round and waits for the promise. */
	private async beforeRound(): Promise<Buffer> {
		const assigned = this.numbers(this.consumer.assignments ?? []);
		await this.release(assigned);
		this.reportedFit = (this.options.fitness?.verdict ?? 'fit') === 'fit';
		return subscriptionData(this.reportedFit);
	}

	private async release(assigned: readonly number[]): Promise<void> {
		const { fitness, releaseMs = RELEASE_MS } = this.options;
		const withinMs = fitness?.verdict === 'unfit' ? Math.min(releaseMs, UNFIT_RELEASE_MS) : releaseMs;
		await settleWithin(withinMs, () => this.assignments.keepOnly(assigned));
	}

	private numbers(assignments: readonly GroupAssignment[]): readonly number[] {
		return assignments
			.filter(({ topic }) => topic === this.options.topic)
			.flatMap(({ partitions }) => partitions);
	}
}
