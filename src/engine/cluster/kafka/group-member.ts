import type { Consumer, GroupAssignment } from '@platformatic/kafka';
import type { Fitness } from '../fitness.ts';
import { assignToFit, subscriptionData } from './assigning.ts';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { LenientConsumer } from './lenient-consumer.ts';

/**
 * Membership in a consumer group, and nothing else of it: Kafka says who consumes which partition, and neither
 * offsets are committed to it nor entries fetched over this connection, where a long poll would hold back
 * heartbeats.
 *
 * Assignment is cooperative and sticky: partitions that do not move are consumed on without a pause, and those
 * that move are revoked one round before they are assigned again. Each round begins with what this member
 * has lost being released, so that the next owner finds it written. At each round a member says whether it is fit to work, and
 * one that ceases to be, or is again, begins a round.
 */

export interface GroupMemberOptions {
	readonly group: string;
	readonly topic: string;
	/** A member that is silent for that long has lost its partitions. */
	readonly sessionMs?: number;
	/** How long a partition is held for its owner to write what it has; after that it is left to the fence. */
	readonly releaseMs?: number;
	/** Without it, always fit. */
	readonly fitness?: Pick<Fitness, 'verdict' | 'onVerdict'>;
}

export interface Assignments {
	/** Lets go of all but these. The next round waits for it. */
	keepOnly(partitions: readonly number[]): Promise<void>;
	/** These are this member's now. */
	assign(partitions: readonly number[]): void;
	report(error: unknown, about: string): void;
}

const SESSION_MS = 10_000;
/** How soon a member learns of a new round. */
const HEARTBEAT_MS = 500;
/** How long a round waits for its members. */
const REBALANCE_MS = 20_000;
/** Beyond that: a coordinator that has not answered a member by then hangs. */
const ANSWER_MS = 3_000;
const RELEASE_MS = 10_000;
/** A member that is cut off from the store would write nothing however long it was given. */
const UNFIT_RELEASE_MS = 2_000;
const REJOIN_MS = 500;
const CLOSE_MS = 5000;
const LOOK_AGAIN_MS = 50;
/** The version of the group protocol in which a member says what it owns and since when. */
const SUBSCRIPTION_VERSION = 3;

export class GroupMember {
	private readonly consumer: Consumer;
	private closing = false;
	private joining = false;
	/** When the newest heartbeat that was confirmed had been sent. */
	private confirmedAt = Number.NEGATIVE_INFINITY;
	/** What this member said of itself in the newest round. */
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
			// Not within the client's own handling of the round.
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
		// The client gives up rejoining when the brokers are unavailable for long: this one does not.
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
	 * Resolves when Kafka has confirmed this membership once more. One that was paused, or cut off, does not know by itself that it
	 * lost its partitions.
	 */
	async confirmed(): Promise<void> {
		const asked = performance.now();
		while (!this.closing && this.confirmedAt < asked) await Bun.sleep(LOOK_AGAIN_MS);
	}

	async close(): Promise<void> {
		this.closing = true;
		await this.release([]);
		await closeWithin(CLOSE_MS, () => this.consumer.close(true));
	}

	/** Begins a round where what the group knows of this member is outdated. A doubtful member waits for what becomes of it. */
	private review(): void {
		const verdict = this.options.fitness?.verdict ?? 'fit';
		if (this.closing || verdict === 'doubtful' || (verdict === 'fit') === this.reportedFit) return;
		void this.join();
	}

	/** Called by the client before each round; it goes on when this resolves. */
	private async beforeRound(): Promise<Buffer> {
		const kept = this.numbers(this.consumer.assignments ?? []);
		await this.release(kept);
		this.reportedFit = (this.options.fitness?.verdict ?? 'fit') === 'fit';
		return subscriptionData(this.reportedFit);
	}

	private async release(kept: readonly number[]): Promise<void> {
		const { fitness, releaseMs = RELEASE_MS } = this.options;
		const withinMs = fitness?.verdict === 'unfit' ? Math.min(releaseMs, UNFIT_RELEASE_MS) : releaseMs;
		await closeWithin(withinMs, () => this.assignments.keepOnly(kept));
	}

	private numbers(assignments: readonly GroupAssignment[]): readonly number[] {
		return assignments
			.filter(({ topic }) => topic === this.options.topic)
			.flatMap(({ partitions }) => partitions);
	}
}
