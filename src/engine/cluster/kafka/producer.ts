import { type Answer, type Batch, Brokers, type Identity } from './brokers.ts';
import { closeWithin, type KafkaConnection } from './client.ts';
import { logUnavailable, unconfirmed } from './errors.ts';
import { Lane, type Waiting } from './lane.ts';
import { isNetwork, NoAnswer, type Reach, type ReachWatch, reachOf } from './reach.ts';

/**
 * Appends, acknowledged by all replicas in sync, each written once.
 *
 * One batch of a partition at a time (a Lane), so that its entries keep their order, also when one has to be sent again; one request
 * to a leader at a time, with a batch of each of its partitions that has something, so that requests grow under load. What was not
 * confirmed is sent again, to the leader of then; Kafka knows it by its sequence number. That holds up its own partition alone:
 * it goes over connections of its own, and other leaders are not waited for.
 *
 *     a partition   going on ──a request failed──> failing ──for 2 s──> rejecting    until something of it is written, or,
 *                                                                                     with nothing to repeat, its leader is reached
 *     Kafka         available ──no broker answers──> unavailable ──one does──> available
 *
 * While a partition is rejecting, or Kafka is unavailable, what waits is rejected and so is what comes: none of that was ever sent. What was
 * sent is answered after 10 s at most, as not confirmed.
 */

export interface ProducerOptions {
	/** How long an entry waits for company. */
	readonly lingerMs?: number;
	/** More than that are not kept waiting. */
	readonly queueLimit?: number;
	/** A request unanswered for that long means that its broker is gone. */
	readonly stalledMs?: number;
	/** Nobody waits longer for a request to be confirmed. */
	readonly confirmedMs?: number;
	readonly report?: (error: unknown, about: string) => void;
	readonly reach?: ReachWatch;
}

/** None: company is what comes while a request is under way. Waiting for it made nothing better (docs/adr/0014). */
const LINGER_MS = 0;
const QUEUE_LIMIT = 20_000;
const STALLED_MS = 2000;
/** Longer than it takes to elect a new leader. */
const CONFIRMED_MS = 10_000;
const RETRY_MS = 200;
const KNOWN_WITHIN_MS = 15_000;
/** Below the megabyte that Kafka takes by default in one batch of a partition. */
const BATCH_BYTES = 900_000;
/** Of all partitions of a leader together. */
const REQUEST_BYTES = 8 * BATCH_BYTES;
const ENTRY_OVERHEAD_BYTES = 80;
const CLOSE_MS = 3000;

export class BatchingProducer {
	private readonly brokers: Brokers;
	private readonly reach: Reach;
	private readonly lanes = new Map<string, Lane>();
	/** Leaders with a request under way, by `request`'s kinds. */
	private readonly busy = new Set<string>();
	/** Leaders that have not answered in time. */
	private readonly silent = new Set<number>();
	private identity: Identity | null = null;
	private waiting = 0;
	private lingering = false;
	private isUnavailable = false;
	private isMending = false;
	private closed = false;

	constructor(
		connection: KafkaConnection,
		private readonly topics: readonly string[],
		private readonly options: ProducerOptions = {},
	) {
		this.reach = reachOf(`appending to ${topics.join(', ')}`, options.reach);
		this.brokers = new Brokers(connection, topics);
	}

	/** Connects, so that the first append finds everything ready. */
	async open(): Promise<void> {
		await this.brokers.look();
		for (const end = performance.now() + KNOWN_WITHIN_MS; !this.brokers.knowsTopics; ) {
			if (performance.now() > end) throw new Error(`there is no topic ${this.topics.join(' or ')}`);
			await Bun.sleep(RETRY_MS);
			await this.brokers.look();
		}
		this.identity = await this.brokers.identify();
	}

	append(topic: string, partition: number, key: string, value: string): Promise<void> {
		const body = Buffer.from(value);
		const bytes = body.length + key.length + ENTRY_OVERHEAD_BYTES;
		if (bytes > BATCH_BYTES) return Promise.reject(new Error(`an entry of ${bytes} bytes is too large`));
		const lane = this.laneOf(topic, partition);
		if (this.closed || this.rejects(lane) || this.waiting >= (this.options.queueLimit ?? QUEUE_LIMIT))
			return Promise.reject(logUnavailable());
		const done = Promise.withResolvers<void>();
		const message = { topic, partition, key: Buffer.from(key), value: body };
		lane.queue.push({ message, bytes, done });
		this.waiting += 1;
		this.wake();
		return done.promise;
	}

	/** Whether Kafka is there: where nobody appends, nobody else finds out. */
	async ask(): Promise<void> {
		if (!this.closed && !this.isMending && this.busy.size === 0) await this.look();
	}

	async close(): Promise<void> {
		this.closed = true;
		const isIdle = (lane: Lane): boolean => lane.batch === null && lane.queue.length === 0;
		await closeWithin(CLOSE_MS, async () => {
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
		return !identity || [...this.lanes.values()].some((lane) => lane.needsOther(identity));
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

	/** To each leader that is waited for by no request of the kind already. */
	private send(): void {
		if (!this.identity) {
			void this.mend();
			return;
		}
		const requests = new Map<string, { leader: number; repeats: boolean; lanes: Lane[] }>();
		for (const lane of this.lanes.values()) {
			if (!lane.isReady || lane.needsOther(this.identity)) continue;
			const leader = this.leaderOf(lane);
			if (leader === undefined) {
				this.failed(lane, new Error(`${lane.topic}/${lane.partition} has no leader`));
				continue;
			}
			const repeats = lane.isFailing;
			const kind = `${leader} ${repeats}`;
			if (this.busy.has(kind)) continue;
			const request = requests.get(kind) ?? { leader, repeats, lanes: [] };
			request.lanes.push(lane);
			requests.set(kind, request);
		}
		for (const [kind, { leader, repeats, lanes }] of requests) {
			this.busy.add(kind);
			void this.request(leader, repeats, this.take(lanes, this.identity)).finally(() => {
				this.busy.delete(kind);
				this.wake();
			});
		}
	}

	/** As much as fits into one request, and of one identity. */
	private take(lanes: readonly Lane[], identity: Identity): ReadonlyMap<Lane, Batch> {
		const batches = new Map<Lane, Batch>();
		let room = REQUEST_BYTES;
		let first: Identity | undefined;
		for (const lane of lanes) {
			if (first && (lane.batch?.identity ?? identity) !== first) continue;
			const { batch, bytes, taken } = lane.take(identity, Math.min(room, BATCH_BYTES));
			if (!batch) continue;
			this.waiting -= taken;
			first ??= batch.identity;
			room -= bytes;
			batches.set(lane, batch);
			this.toTheEnd(lane);
		}
		return batches;
	}

	/** Those that had to be left out come first in the next request. */
	private toTheEnd(lane: Lane): void {
		const name = `${lane.topic}:${lane.partition}`;
		this.lanes.delete(name);
		this.lanes.set(name, lane);
	}

	private async request(leader: number, repeats: boolean, batches: ReadonlyMap<Lane, Batch>): Promise<void> {
		const [first] = batches.values();
		if (!first) return;
		const { stalledMs = STALLED_MS } = this.options;
		const timer = setTimeout(() => this.fallenSilent(leader, new NoAnswer(stalledMs)), stalledMs);
		for (const lane of batches.keys()) lane.isUnderWay = true;
		try {
			const connection = await this.brokers.connect(leader, repeats);
			for (const lane of batches.keys()) this.sent(lane);
			const answers = await this.brokers.produce(connection, first.identity, [...batches.values()]);
			this.silent.delete(leader);
			for (const [lane, batch] of batches) this.settle(lane, answers.get(batch) ?? 'again');
			if ([...answers.values()].includes('written')) this.cameBack();
		} catch (error) {
			for (const lane of batches.keys()) this.failed(lane, error);
		}
		clearTimeout(timer);
		// Its partitions are failing now, or it answers: each of them says whether it takes something.
		this.silent.delete(leader);
	}

	/** From now on it may be written. */
	private sent(lane: Lane): void {
		const { confirmedMs = CONFIRMED_MS } = this.options;
		lane.sent(unconfirmed, confirmedMs);
	}

	private settle(lane: Lane, answer: Answer): void {
		if (answer === 'written') {
			lane.written();
		} else if (answer === 'again') {
			this.failed(
				lane,
				new Error(`${lane.topic}/${lane.partition} is not replicated, or has another leader`),
			);
		} else if (answer === 'forgotten') {
			lane.forgotten();
			this.failed(lane, new Error(`Kafka does not know this producer of ${lane.topic}/${lane.partition}`));
		} else {
			const error = new Error(`Kafka rejected what was appended to ${lane.topic}/${lane.partition}`);
			this.options.report?.(error, `appending to ${this.topics.join(', ')}`);
			this.reach.lost(error);
			lane.giveUp(unconfirmed());
			void this.mend();
		}
	}

	private failed(lane: Lane, error: unknown): void {
		this.waiting += lane.failed();
		const { stalledMs = STALLED_MS } = this.options;
		if (lane.isGivenUp) lane.giveUp(unconfirmed());
		if (lane.failingMs >= stalledMs) this.reject(lane, error);
		if (this.isUnavailable) this.rejectWaiting(lane);
		lane.pause(RETRY_MS, () => this.wake());
		void this.mend();
	}

	private reject(lane: Lane, error: unknown): void {
		if (!lane.isRejecting) this.options.report?.(error, `appending to ${lane.topic}/${lane.partition}`);
		lane.isRejecting = true;
		this.rejectWaiting(lane);
		this.lostIfAll(error);
	}

	private fallenSilent(leader: number, error: unknown): void {
		this.silent.add(leader);
		for (const lane of this.lanes.values()) if (this.leaderOf(lane) === leader) this.rejectWaiting(lane);
		this.lostIfAll(error);
		void this.mend();
	}

	private lostIfAll(error: unknown): void {
		if (this.allReject()) this.reach.lost(error);
	}

	private allReject(): boolean {
		for (const lane of this.lanes.values()) if (!this.rejects(lane)) return false;
		return this.lanes.size > 0;
	}

	private rejectWaiting(lane: Lane): void {
		const rejected: readonly Waiting[] = lane.queue.splice(0);
		this.waiting -= rejected.length;
		for (const { done } of rejected) done.reject(logUnavailable());
	}

	/** Looks for leaders until every partition has one. */
	private async mend(): Promise<void> {
		if (this.isMending) return;
		this.isMending = true;
		const isAmiss = (): boolean =>
			this.isUnavailable || this.needsIdentity || [...this.lanes.values()].some(({ isFailing }) => isFailing);
		do {
			await this.look();
			if (!this.isUnavailable) await this.restore();
			this.wake();
			await Bun.sleep(RETRY_MS);
		} while (!this.closed && isAmiss());
		this.isMending = false;
		if (!this.isUnavailable) this.cameBack();
	}

	/** An identity where one is needed, and partitions that have nothing to repeat: whether their leaders can be reached. */
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
					await this.brokers.connect(leader, true);
					for (const lane of lanes) if (lane.isEmpty) lane.goOn();
				} catch {
					// Not yet.
				}
			}),
		);
	}

	private async look(): Promise<void> {
		try {
			await this.brokers.look();
			this.cameBack();
		} catch (error) {
			if (!isNetwork(error)) return;
			this.isUnavailable = true;
			this.reach.lost(error);
			for (const lane of this.lanes.values()) this.rejectWaiting(lane);
			void this.mend();
		}
	}

	/** Where some partitions accept appends, Kafka is available. */
	private cameBack(): void {
		this.isUnavailable = false;
		if (!this.allReject()) this.reach.regained();
	}
}
