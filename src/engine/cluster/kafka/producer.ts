import { type BatchAnswer, Brokers, type ProducerIdentity, type RecordBatch } from './brokers.ts';
import { type KafkaConnection, settleWithin } from './client.ts';
import { logUnavailable, unconfirmed } from './errors.ts';
import { Lane, type PendingAppend } from './lane.ts';
import { isNetwork, NoAnswer, type Reach, type ReachWatch, reachOf } from './reach.ts';

/**
 * Appends records, each written once and acknowledged by all in-sync replicas.
 *
 * Each partition (a Lane) has one batch in flight, so that records keep their order even when a batch is retried. Each leader has one
 * request in flight, with a batch of each of its partitions, so that requests grow under load. An unconfirmed batch is sent again to
 * the current leader; Kafka recognises it by its sequence number. A retry delays only partitions that are failing: retries use separate
 * connections, and no request waits for another leader.
 *
 *     a partition   healthy ──a request failed──> failing ──for 2 s──> rejecting
 *     Kafka         available ──no broker answers──> unavailable ──one does──> available
 *
 * A partition is healthy again when a batch is written or, with nothing to retry, when its leader answers.
 * While a partition is rejecting, or Kafka is unavailable, queued and new records are rejected; none of them was sent. Records
 * that were sent but not confirmed are answered as unconfirmed after at most 10 s.
 */

export interface ProducerOptions {
	/** How long a record waits for others to share its batch. */
	readonly lingerMs?: number;
	/** Maximum number of queued records; more are rejected. */
	readonly queueLimit?: number;
	/** A broker that has not answered a request for this long counts as down. */
	readonly stalledMs?: number;
	/** How long callers wait for a confirmation. */
	readonly confirmedMs?: number;
	readonly report?: (error: unknown, about: string) => void;
	readonly reach?: ReachWatch;
}

/** No linger: records batch while another request is in flight. Lingering improved nothing (docs/adr/0014). */
const LINGER_MS = 0;
const QUEUE_LIMIT = 20_000;
const STALLED_MS = 2000;
/** Longer than the election of a new leader takes. */
const CONFIRMED_MS = 10_000;
const RETRY_MS = 200;
const KNOWN_WITHIN_MS = 15_000;
/** Below Kafka's default limit of 1 MB per batch of a partition. */
const BATCH_BYTES = 900_000;
/** For all partitions of a leader together. */
const REQUEST_BYTES = 8 * BATCH_BYTES;
const RECORD_OVERHEAD_BYTES = 80;
const CLOSE_MS = 3000;

export class BatchingProducer {
	private readonly brokers: Brokers;
	private readonly reach: Reach;
	private readonly lanes = new Map<string, Lane>();
	/** Leaders with a request in flight, by kind of request (first attempt or retry). */
	private readonly busy = new Set<string>();
	/** Leaders that did not answer in time. */
	private readonly silent = new Set<number>();
	private identity: ProducerIdentity | null = null;
	private waiting = 0;
	private lingering = false;
	private isUnavailable = false;
	private isRecovering = false;
	private closed = false;

	constructor(
		connection: KafkaConnection,
		private readonly topics: readonly string[],
		private readonly options: ProducerOptions = {},
	) {
		this.reach = reachOf(`appending to ${topics.join(', ')}`, options.reach);
		this.brokers = new Brokers(connection, topics);
	}

	/** Connects, so that the first append is fast. */
	async open(): Promise<void> {
		await this.brokers.refresh();
		for (const end = performance.now() + KNOWN_WITHIN_MS; !this.brokers.knowsTopics; ) {
			if (performance.now() > end) throw new Error(`there is no topic ${this.topics.join(' or ')}`);
			await Bun.sleep(RETRY_MS);
			await this.brokers.refresh();
		}
		this.identity = await this.brokers.identify();
	}

	append(topic: string, partition: number, key: string, value: string): Promise<void> {
		const body = Buffer.from(value);
		const bytes = body.length + key.length + RECORD_OVERHEAD_BYTES;
		if (bytes > BATCH_BYTES) return Promise.reject(new Error(`a log record of ${bytes} bytes is too large`));
		const lane = this.laneOf(topic, partition);
		if (this.closed || this.rejects(lane) || this.waiting >= (this.options.queueLimit ?? QUEUE_LIMIT))
			return Promise.reject(logUnavailable());
		const done = Promise.withResolvers<void>();
		const record = { topic, partition, key: Buffer.from(key), value: body };
		lane.queue.push({ record, bytes, done });
		this.waiting += 1;
		this.wake();
		return done.promise;
	}

	/** Checks whether Kafka is reachable: without appends nothing else would notice. */
	async probe(): Promise<void> {
		if (!this.closed && !this.isRecovering && this.busy.size === 0) await this.refreshBrokers();
	}

	async close(): Promise<void> {
		this.closed = true;
		const isIdle = (lane: Lane): boolean => lane.batch === null && lane.queue.length === 0;
		await settleWithin(CLOSE_MS, async () => {
			while (![...this.lanes.values()].every(isIdle)) await Bun.sleep(5);
		});
		for (const lane of this.lanes.values()) this.rejectWaiting(lane);
		await this.brokers.close();
	}

	private laneOf(topic: string, partition: number): Lane {
		const name = `${topic}:${partition}`;
		const lane = this.lanes.get(name) ?? new Lane(topic, partition);
		this.lanes.set(name, lane);
		return lane;
	}

	private leaderOf({ topic, partition }: Lane): number | undefined {
		return this.brokers.leaderOf(topic, partition);
	}

	private get needsIdentity(): boolean {
		const { identity } = this;
		return !identity || [...this.lanes.values()].some((lane) => lane.needsNewIdentity(identity));
	}

	private rejects(lane: Lane): boolean {
		return this.isUnavailable || lane.isRejecting || this.silent.has(this.leaderOf(lane) ?? -1);
	}

	private wake(): void {
		if (this.lingering) return;
		this.lingering = true;
		const { lingerMs = LINGER_MS } = this.options;
		const send = (): void => {
			this.lingering = false;
			this.send();
		};
		if (lingerMs > 0) setTimeout(send, lingerMs);
		else setImmediate(send);
	}

	/** Sends to each leader that has no request of the same kind in flight. */
	private send(): void {
		if (!this.identity) {
			void this.recover();
			return;
		}
		const requests = new Map<string, { leader: number; isRetry: boolean; lanes: Lane[] }>();
		for (const lane of this.lanes.values()) {
			if (!lane.isReady || lane.needsNewIdentity(this.identity)) continue;
			const leader = this.leaderOf(lane);
			if (leader === undefined) {
				this.failed(lane, new Error(`${lane.topic}/${lane.partition} has no leader`));
				continue;
			}
			const isRetry = lane.isFailing;
			const kind = `${leader} ${isRetry}`;
			if (this.busy.has(kind)) continue;
			const request = requests.get(kind) ?? { leader, isRetry, lanes: [] };
			request.lanes.push(lane);
			requests.set(kind, request);
		}
		for (const [kind, { leader, isRetry, lanes }] of requests) {
			this.busy.add(kind);
			void this.request(leader, isRetry, this.take(lanes, this.identity)).finally(() => {
				this.busy.delete(kind);
				this.wake();
			});
		}
	}

	/** Takes as many batches as fit into one request, all of one identity. */
	private take(lanes: readonly Lane[], identity: ProducerIdentity): ReadonlyMap<Lane, RecordBatch> {
		const batches = new Map<Lane, RecordBatch>();
		let room = REQUEST_BYTES;
		let first: ProducerIdentity | undefined;
		for (const lane of lanes) {
			if (first && (lane.batch?.identity ?? identity) !== first) continue;
			const { batch, bytes, taken } = lane.take(identity, Math.min(room, BATCH_BYTES));
			if (!batch) continue;
			this.waiting -= taken;
			first ??= batch.identity;
			room -= bytes;
			batches.set(lane, batch);
			this.moveToEnd(lane);
		}
		return batches;
	}

	/** Moves the lane to the end, so that lanes that were left out come first in the next request. */
	private moveToEnd(lane: Lane): void {
		const name = `${lane.topic}:${lane.partition}`;
		this.lanes.delete(name);
		this.lanes.set(name, lane);
	}

	private async request(
		leader: number,
		isRetry: boolean,
		batches: ReadonlyMap<Lane, RecordBatch>,
	): Promise<void> {
		const [first] = batches.values();
		if (!first) return;
		const { stalledMs = STALLED_MS } = this.options;
		const timer = setTimeout(() => this.fallenSilent(leader, new NoAnswer(stalledMs)), stalledMs);
		for (const lane of batches.keys()) lane.isInFlight = true;
		try {
			const connection = await this.brokers.connect(leader, isRetry);
			for (const lane of batches.keys()) this.sent(lane);
			const answers = await this.brokers.produce(connection, first.identity, [...batches.values()]);
			this.silent.delete(leader);
			for (const [lane, batch] of batches) this.settle(lane, answers.get(batch) ?? 'retry');
			if ([...answers.values()].includes('written')) this.markAvailable();
		} catch (error) {
			for (const lane of batches.keys()) this.failed(lane, error);
		}
		clearTimeout(timer);
		// The leader has answered, or its partitions are failing now: each lane decides whether it accepts records.
		this.silent.delete(leader);
	}

	/** From now on the batch may be written. */
	private sent(lane: Lane): void {
		const { confirmedMs = CONFIRMED_MS } = this.options;
		lane.sent(unconfirmed, confirmedMs);
	}

	private settle(lane: Lane, answer: BatchAnswer): void {
		if (answer === 'written') {
			lane.written();
		} else if (answer === 'retry') {
			this.failed(
				lane,
				new Error(`${lane.topic}/${lane.partition} has too few in-sync replicas, or a new leader`),
			);
		} else if (answer === 'unknown_producer') {
			lane.producerUnknown();
			this.failed(lane, new Error(`Kafka does not know this producer of ${lane.topic}/${lane.partition}`));
		} else {
			const error = new Error(`Kafka rejected a batch for ${lane.topic}/${lane.partition}`);
			this.options.report?.(error, `appending to ${this.topics.join(', ')}`);
			this.reach.lost(error);
			lane.giveUp(unconfirmed());
			void this.recover();
		}
	}

	private failed(lane: Lane, error: unknown): void {
		this.waiting += lane.failed();
		const { stalledMs = STALLED_MS } = this.options;
		if (lane.isOverdue) lane.giveUp(unconfirmed());
		if (lane.failingMs >= stalledMs) this.reject(lane, error);
		if (this.isUnavailable) this.rejectWaiting(lane);
		lane.pause(RETRY_MS, () => this.wake());
		void this.recover();
	}

	private reject(lane: Lane, error: unknown): void {
		// Reported as an outage of Kafka, not as a bug of this process.
		if (!lane.isRejecting)
			this.options.report?.(logUnavailable(error), `appending to ${lane.topic}/${lane.partition}`);
		lane.isRejecting = true;
		this.rejectWaiting(lane);
		this.lostIfAll(error);
	}

	private fallenSilent(leader: number, error: unknown): void {
		this.silent.add(leader);
		for (const lane of this.lanes.values()) if (this.leaderOf(lane) === leader) this.rejectWaiting(lane);
		this.lostIfAll(error);
		void this.recover();
	}

	private lostIfAll(error: unknown): void {
		if (this.allReject()) this.reach.lost(error);
	}

	private allReject(): boolean {
		for (const lane of this.lanes.values()) if (!this.rejects(lane)) return false;
		return this.lanes.size > 0;
	}

	private rejectWaiting(lane: Lane): void {
		const rejected: readonly PendingAppend[] = lane.queue.splice(0);
		this.waiting -= rejected.length;
		for (const { done } of rejected) done.reject(logUnavailable());
	}

	/** Looks up leaders and identity until no partition is failing. */
	private async recover(): Promise<void> {
		if (this.isRecovering) return;
		this.isRecovering = true;
		const needsRecovery = (): boolean =>
			this.isUnavailable || this.needsIdentity || [...this.lanes.values()].some(({ isFailing }) => isFailing);
		do {
			await this.refreshBrokers();
			if (!this.isUnavailable) await this.restore();
			this.wake();
			await Bun.sleep(RETRY_MS);
		} while (!this.closed && needsRecovery());
		this.isRecovering = false;
		if (!this.isUnavailable) this.markAvailable();
	}

	/** Gets a new identity if needed, and checks whether the leaders of failing partitions with nothing to retry answer. */
	private async restore(): Promise<void> {
		try {
			if (this.needsIdentity) this.identity = await this.brokers.identify();
		} catch (error) {
			if (isNetwork(error)) this.reach.lost(error);
		}
		const idle = [...this.lanes.values()].filter((lane) => lane.isFailing && lane.isEmpty);
		await Promise.all(
			[...Map.groupBy(idle, (lane) => this.leaderOf(lane))].map(async ([leader, lanes]) => {
				if (leader === undefined) return;
				try {
					await this.brokers.check(leader);
					for (const lane of lanes) if (lane.isEmpty) lane.recovered();
				} catch {
					// Still no answer.
				}
			}),
		);
	}

	private async refreshBrokers(): Promise<void> {
		try {
			await this.brokers.refresh();
			this.markAvailable();
		} catch (error) {
			if (!isNetwork(error)) return;
			this.isUnavailable = true;
			this.reach.lost(error);
			for (const lane of this.lanes.values()) this.rejectWaiting(lane);
			void this.recover();
		}
	}

	/** Kafka is available if any partition accepts appends. */
	private markAvailable(): void {
		this.isUnavailable = false;
		if (!this.allReject()) this.reach.regained();
	}
}
