import { type MessageToProduce, ProduceAcks, Producer } from '@platformatic/kafka';
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { away, unconfirmed } from './errors.ts';
import { answered, isNetwork, NoAnswer, type Reach, type ReachWatch, reachOf } from './reach.ts';

/**
 * Appends, acknowledged by all replicas in sync, each written once.
 *
 *     idle ──append──> gathering ──a broker is there──> sending ──acked──> idle, or sending what has come meanwhile
 *       │                  └──none──> away                 └──retry, or no answer for 2 s──> away
 *       └──asked in vain──> away ──acked, or a probe answered──> idle
 *
 * One request at a time: entries reach Kafka in the order of their appends, also when one has to be sent again,
 * and under load requests grow instead of piling up. While Kafka is away what is under way is sent again (Kafka
 * knows it by its sequence number), what waits is refused, and so is what comes: none of that was ever sent. Nor was what
 * finds no broker to be sent to: it is refused before the client has it, which would go on trying.
 *
 * Whoever waits for what is under way is told after 10 s at most that it is not confirmed. The client may still be
 * trying then, and nothing else is sent before it has come to an end: so the order holds.
 */

export interface ProducerOptions {
	/** How long an entry waits for company. */
	readonly lingerMs?: number;
	/** More than that are not kept waiting. */
	readonly queueLimit?: number;
	/** A request unanswered for that long means that Kafka is away. */
	readonly stalledMs?: number;
	/** Nobody waits longer for a request to be confirmed. */
	readonly confirmedMs?: number;
	readonly report?: (error: unknown, about: string) => void;
	readonly reach?: ReachWatch;
}

interface Waiting {
	readonly message: MessageToProduce;
	readonly bytes: number;
	readonly done: PromiseWithResolvers<void>;
}

/** None: company is what comes while a request is under way. Waiting for it made nothing better (docs/adr/0014). */
const LINGER_MS = 0;
const QUEUE_LIMIT = 20_000;
const STALLED_MS = 2000;
/** Longer than it takes to elect a new leader. */
const CONFIRMED_MS = 10_000;
/** A broker that has not answered by then is asked again. */
const REQUEST_MS = 5000;
const RETRY_MS = 200;
/** About ten seconds where brokers refuse connections; one that hangs takes a request's time for each. */
const RETRIES = 50;
/** Below the megabyte that Kafka takes by default in one batch of a partition. */
const REQUEST_BYTES = 900_000;
const ENTRY_OVERHEAD_BYTES = 80;
const CLOSE_MS = 3000;

export class BatchingProducer {
	private readonly producer: Producer;
	private readonly reach: Reach;
	private queue: Waiting[] = [];
	private sending = false;
	private lingering = false;
	private isAway = false;
	private asking = false;
	private probing = false;
	private closed = false;

	constructor(
		connection: KafkaConnection,
		private readonly topics: readonly string[],
		private readonly options: ProducerOptions = {},
	) {
		this.reach = reachOf(`appending to ${topics.join(', ')}`, options.reach);
		this.producer = new Producer({
			...clientOptions(connection),
			idempotent: true,
			acks: ProduceAcks.ALL,
			requestTimeout: REQUEST_MS,
			retries: RETRIES,
			retryDelay: (_client, _operation, _attempt, _retries, error) => {
				// A leader that is being elected keeps entries waiting; only a broker that is gone has them refused.
				if (isNetwork(error)) this.goneAway(error);
				return RETRY_MS;
			},
		});
	}

	/** Connects, so that the first append finds everything ready. */
	async open(): Promise<void> {
		await this.producer.metadata({ topics: [...this.topics], retries: 0 });
		await this.producer.initIdempotentProducer({});
	}

	append(topic: string, partition: number, key: string, value: string): Promise<void> {
		const body = Buffer.from(value);
		const bytes = body.length + key.length + ENTRY_OVERHEAD_BYTES;
		if (bytes > REQUEST_BYTES) return Promise.reject(new Error(`an entry of ${bytes} bytes is too large`));
		if (this.closed || this.isAway || this.queue.length >= (this.options.queueLimit ?? QUEUE_LIMIT))
			return Promise.reject(away());
		const done = Promise.withResolvers<void>();
		this.queue.push({ message: { topic, partition, key: Buffer.from(key), value: body }, bytes, done });
		this.wake();
		return done.promise;
	}

	/** Whether Kafka is there: where nobody appends, nobody else finds out. */
	async ask(): Promise<void> {
		if (this.closed || this.asking || this.sending || this.isAway) return;
		this.asking = true;
		try {
			await this.lookAnew();
			this.cameBack();
		} catch (error) {
			if (isNetwork(error)) this.goneAway(error);
			if (this.isAway && !this.sending) void this.probe();
		}
		this.asking = false;
	}

	async close(): Promise<void> {
		this.closed = true;
		await closeWithin(CLOSE_MS, async () => {
			while (this.queue.length > 0 || this.sending) await Bun.sleep(5);
		});
		this.refuseWaiting();
		await closeWithin(CLOSE_MS, () => this.producer.close(true));
	}

	private wake(): void {
		if (this.lingering || this.sending) return;
		this.lingering = true;
		const { lingerMs = LINGER_MS } = this.options;
		const send = (): void => {
			this.lingering = false;
			void this.send();
		};
		if (lingerMs > 0) setTimeout(send, lingerMs);
		else setImmediate(send);
	}

	private async send(): Promise<void> {
		this.sending = true;
		while (this.queue.length > 0) await this.request(this.take());
		this.sending = false;
		if (this.isAway) void this.probe();
	}

	private async request(batch: readonly Waiting[]): Promise<void> {
		const { stalledMs = STALLED_MS, confirmedMs = CONFIRMED_MS } = this.options;
		try {
			await answered(stalledMs, this.findBrokers(batch));
		} catch (error) {
			if (isNetwork(error)) {
				this.goneAway(error);
				for (const { done } of batch) done.reject(away());
				return;
			}
			// Kafka answered, with something that the client may know how to deal with.
		}
		const giveUp = (): void => {
			for (const { done } of batch) done.reject(unconfirmed());
		};
		const patience = [
			setTimeout(() => this.goneAway(new NoAnswer(stalledMs)), stalledMs),
			setTimeout(giveUp, confirmedMs),
		];
		try {
			await this.producer.send({ messages: batch.map(({ message }) => message) });
			this.cameBack();
			for (const { done } of batch) done.resolve();
		} catch (error) {
			this.options.report?.(error, `appending to ${this.topics.join(', ')}`);
			if (isNetwork(error)) this.goneAway(error);
			else this.reach.lost(error);
			giveUp();
		}
		for (const timer of patience) clearTimeout(timer);
	}

	/**
	 * Connects to those that the batch goes to, where that is not so already, and fails where there is no broker at all. One of
	 * several may be gone: another comes to lead what it led, and the client waits for that.
	 */
	private async findBrokers(batch: readonly Waiting[]): Promise<void> {
		const { brokers, topics } = await this.producer.metadata({ topics: [...this.topics], retries: 0 });
		const leaders = new Set<number>();
		for (const { message } of batch) {
			const leader = topics.get(message.topic)?.partitions[message.partition ?? 0]?.leader;
			if (leader !== undefined && brokers.has(leader)) leaders.add(leader);
		}
		if (leaders.size === 0) return;
		await this.producer.connectToBrokers([...leaders]).catch(() => this.lookAnew());
	}

	private async lookAnew(): Promise<void> {
		await this.producer.metadata({ topics: [...this.topics], forceUpdate: true, retries: 0 });
	}

	/** As many as fit into one request. */
	private take(): Waiting[] {
		let bytes = 0;
		let count = 0;
		for (const waiting of this.queue) {
			bytes += waiting.bytes;
			if (bytes > REQUEST_BYTES) break;
			count += 1;
		}
		return this.queue.splice(0, count);
	}

	private goneAway(error: unknown): void {
		this.isAway = true;
		this.reach.lost(error);
		this.refuseWaiting();
	}

	private cameBack(): void {
		this.isAway = false;
		this.reach.regained();
	}

	private refuseWaiting(): void {
		const waiting = this.queue;
		this.queue = [];
		for (const { done } of waiting) done.reject(away());
	}

	/** Nothing is under way that could tell when Kafka is back. */
	private async probe(): Promise<void> {
		if (this.probing) return;
		this.probing = true;
		while (this.isAway && !this.closed) {
			await Bun.sleep(RETRY_MS);
			try {
				await this.lookAnew();
				this.cameBack();
			} catch {
				// Still away.
			}
		}
		this.probing = false;
	}
}
