import {
	type API,
	type Broker,
	type Connection,
	ConnectionPool,
	kGetApi,
	type MessageRecord,
	type metadataV12,
	NetworkError,
	NumericMap,
	ProduceAcks,
	Producer,
	type produceV11,
	protocolErrors,
	protocolErrorsCodesById,
	type ResponseError,
} from '@platformatic/kafka';
import { clientOptions, type KafkaConnection, settleWithin } from './client.ts';
import { answerWithin } from './reach.ts';

/**
 * Knows the leaders of partitions, and sends requests to them. Retries use separate connections: a broker answers the requests of a
 * connection one after the other, so a request that waits for a dead replica would delay the others.
 */

/** Kafka recognises a repeated batch by its producer id and sequence number. */
export interface ProducerIdentity {
	readonly producerId: bigint;
	readonly producerEpoch: number;
}

export interface RecordBatch {
	readonly topic: string;
	readonly partition: number;
	readonly records: readonly MessageRecord[];
	readonly identity: ProducerIdentity;
	/** Sequence number of its first record. */
	readonly sequence: number;
}

/** A leader's answer for one batch. */
export type BatchAnswer = 'written' | 'retry' | 'unknown_producer' | 'rejected';

type MetadataApi = API<[string[], boolean, boolean], metadataV12.MetadataResponse>;
type ProduceApi = API<
	[number, number, MessageRecord[], { producerId: bigint; producerEpoch: number; sequences: NumericMap }],
	produceV11.ProduceResponse
>;

/**
 * A live leader answers within this time, even if its replicas have not confirmed. A leader that hangs does not answer at all: the
 * request times out after REQUEST_MS.
 */
const REPLICATED_MS = 1500;
const REQUEST_MS = 3000;
const CONNECT_MS = 2000;
/** If a broker has not answered by then, the next one is asked. */
const METADATA_MS = 1500;
const CLOSE_MS = 3000;

const WRITTEN = new Set(['DUPLICATE_SEQUENCE_NUMBER']);
const UNKNOWN_PRODUCER = new Set([
	'OUT_OF_ORDER_SEQUENCE_NUMBER',
	'UNKNOWN_PRODUCER_ID',
	'INVALID_PRODUCER_EPOCH',
]);

export class Brokers {
	private readonly client: Producer;
	private readonly metadataPool: ConnectionPool;
	private readonly firstPool: ConnectionPool;
	private readonly retryPool: ConnectionPool;
	private readonly bootstrap: readonly Broker[];
	/** The broker that answered last. */
	private answering: Broker | null = null;
	private addresses: ReadonlyMap<number, Broker> = new Map();
	private leaders: ReadonlyMap<string, number> = new Map();
	private knownTopics: ReadonlySet<string> = new Set();
	private refreshing: Promise<void> | null = null;
	/** Cached, because the client searches a list for each request. */
	private readonly apis = new Map<string, unknown>();

	constructor(
		connection: KafkaConnection,
		private readonly topics: readonly string[],
	) {
		const options = clientOptions(connection);
		this.client = new Producer({
			...options,
			idempotent: true,
			acks: ProduceAcks.ALL,
			connectTimeout: CONNECT_MS,
			requestTimeout: METADATA_MS,
		});
		this.bootstrap = connection.brokers.map((address) => {
			const colon = address.lastIndexOf(':');
			return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
		});
		const pool = (requestTimeout: number): ConnectionPool =>
			new ConnectionPool(options.clientId, {
				connectTimeout: CONNECT_MS,
				requestTimeout,
				maxInflights: 1,
				...(connection.tls ? { tls: connection.tls } : {}),
				...(connection.sasl ? { sasl: connection.sasl } : {}),
			});
		this.metadataPool = pool(METADATA_MS);
		this.firstPool = pool(REQUEST_MS);
		this.retryPool = pool(REQUEST_MS);
	}

	/** Refreshes leaders and addresses. */
	refresh(): Promise<void> {
		this.refreshing ??= this.fetchMetadata().finally(() => {
			this.refreshing = null;
		});
		return this.refreshing;
	}

	/** Whether the brokers know all topics: a new topic is not known to every broker at once. */
	get knowsTopics(): boolean {
		return this.topics.every((topic) => this.knownTopics.has(topic));
	}

	leaderOf(topic: string, partition: number): number | undefined {
		return this.leaders.get(`${topic}:${partition}`);
	}

	/** A new identity, which no broker has seen. */
	async identify(): Promise<ProducerIdentity> {
		const { producerId, producerEpoch } = await this.client.initIdempotentProducer({});
		return { producerId, producerEpoch };
	}

	/** Rejects if the leader cannot be reached. A leader that hangs may still accept a connection. */
	async connect(leader: number, isRetry: boolean): Promise<Connection> {
		return answerWithin(REQUEST_MS, (isRetry ? this.retryPool : this.firstPool).get(this.addressOf(leader)));
	}

	/** Rejects if the leader does not answer a request. */
	async check(leader: number): Promise<void> {
		await this.metadataFrom(this.addressOf(leader));
	}

	/** Sends batches of one identity. From now on they may be written, even if this rejects. */
	async produce(
		connection: Connection,
		identity: ProducerIdentity,
		batches: readonly RecordBatch[],
	): Promise<ReadonlyMap<RecordBatch, BatchAnswer>> {
		const api = await this.api<ProduceApi>('Produce');
		const sequences = new NumericMap(
			batches.map(({ topic, partition, sequence }) => [`${topic}:${partition}`, sequence]),
		);
		const records = batches.flatMap((batch) => batch.records);
		const response = await responseOf(
			api.async(connection, ProduceAcks.ALL, REPLICATED_MS, records, {
				...identity,
				sequences,
			}),
		);
		const codes = new Map<string, number>();
		for (const { name, partitionResponses } of response.responses)
			for (const { index, errorCode } of partitionResponses) codes.set(`${name}:${index}`, errorCode);
		return new Map(batches.map((batch) => [batch, answerOf(codes.get(`${batch.topic}:${batch.partition}`))]));
	}

	async close(): Promise<void> {
		await settleWithin(CLOSE_MS, () =>
			Promise.all([
				this.client.close(true),
				this.metadataPool.close(),
				this.firstPool.close(),
				this.retryPool.close(),
			]),
		);
	}

	/** Not the client's own method, which fails entirely if a single partition has no leader. */
	private async fetchMetadata(): Promise<void> {
		const { brokers, topics } = await this.askUntilAnswered((broker) => this.metadataFrom(broker));
		this.addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
		const leaders = new Map<string, number>();
		for (const { name, partitions } of topics)
			for (const { partitionIndex, leaderId } of partitions)
				if (leaderId >= 0) leaders.set(`${name}:${partitionIndex}`, leaderId);
		this.leaders = leaders;
		this.knownTopics = new Set(
			topics.flatMap(({ name, partitions }) => (name && partitions.length > 0 ? [name] : [])),
		);
	}

	private async metadataFrom(broker: Broker): Promise<metadataV12.MetadataResponse> {
		const api = await this.api<MetadataApi>('Metadata');
		const connection = await answerWithin(REQUEST_MS, this.metadataPool.get(broker));
		return responseOf(api.async(connection, [...this.topics], false, false));
	}

	/** Asks brokers one by one, until one answers. */
	private async askUntilAnswered<T>(ask: (broker: Broker) => Promise<T>): Promise<T> {
		const known = [...this.addresses.values(), ...this.bootstrap];
		const ordered = this.answering ? [this.answering, ...known] : known;
		const byAddress = new Map(ordered.map((broker) => [`${broker.host}:${broker.port}`, broker]));
		let failure: unknown;
		for (const broker of byAddress.values()) {
			try {
				const answer = await ask(broker);
				this.answering = broker;
				return answer;
			} catch (error) {
				failure = error;
			}
		}
		throw failure;
	}

	private addressOf(leader: number): Broker {
		const address = this.addresses.get(leader);
		if (!address) throw new NetworkError(`broker ${leader} is not among the reachable brokers`);
		return address;
	}

	private api<T>(name: string): Promise<T> {
		const known = this.apis.get(name);
		if (known) return Promise.resolve(known as T);
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		this.client[kGetApi](name, (error, api) => {
			if (error) {
				reject(error);
				return;
			}
			this.apis.set(name, api);
			resolve(api as T);
		});
		return promise;
	}
}

/** The response even if it contains errors: it lists them next to the successes. */
const responseOf = <T extends object>(asked: Promise<T>): Promise<T> =>
	asked.catch((error: ResponseError & { readonly response?: T }) => {
		if (error.response) return error.response;
		throw error;
	});

function answerOf(code: number | undefined): BatchAnswer {
	if (code === 0) return 'written';
	const id = code === undefined ? undefined : protocolErrorsCodesById[code];
	if (id === undefined) return 'retry';
	if (WRITTEN.has(id)) return 'written';
	if (UNKNOWN_PRODUCER.has(id)) return 'unknown_producer';
	return protocolErrors[id]?.canRetry ? 'retry' : 'rejected';
}
