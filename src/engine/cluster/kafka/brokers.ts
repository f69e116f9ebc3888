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
import { clientOptions, closeWithin, type KafkaConnection } from './client.ts';
import { answered } from './reach.ts';

/**
 * Who leads which partition, and requests to leaders. Requests that repeat what failed have connections of their own: a
 * broker answers the requests of a connection one after the other, and one that waits for a dead replica would hold up the rest.
 */

/** Kafka knows what it was sent before by the producer and a number in sequence. */
export interface Identity {
	readonly producerId: bigint;
	readonly producerEpoch: number;
}

export interface Batch {
	readonly topic: string;
	readonly partition: number;
	readonly messages: readonly MessageRecord[];
	readonly identity: Identity;
	/** Of its first message. */
	readonly sequence: number;
}

/** What a leader answered about one batch. */
export type Answer = 'written' | 'again' | 'forgotten' | 'rejected';

type MetadataApi = API<[string[], boolean, boolean], metadataV12.MetadataResponse>;
type ProduceApi = API<
	[number, number, MessageRecord[], { producerId: bigint; producerEpoch: number; sequences: NumericMap }],
	produceV11.ProduceResponse
>;

/** A leader that lives says by then that replicas have not confirmed; without it, one that hangs is left alone. */
const REPLICATED_MS = 1500;
const REQUEST_MS = 3000;
const CONNECT_MS = 2000;
/** A broker that hangs takes a whole request's time; the next one is asked then. */
const METADATA_MS = 1500;
const CLOSE_MS = 3000;

const WRITTEN = new Set(['DUPLICATE_SEQUENCE_NUMBER']);
const FORGOTTEN = new Set(['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH']);

export class Brokers {
	private readonly client: Producer;
	private readonly asking: ConnectionPool;
	private readonly swift: ConnectionPool;
	private readonly repeating: ConnectionPool;
	private readonly bootstrap: readonly Broker[];
	/** Has answered last. */
	private answering: Broker | null = null;
	private addresses: ReadonlyMap<number, Broker> = new Map();
	private leaders: ReadonlyMap<string, number> = new Map();
	private known: ReadonlySet<string> = new Set();
	private looking: Promise<void> | null = null;
	/** The client looks them up in a list for each request. */
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
		this.asking = pool(METADATA_MS);
		this.swift = pool(REQUEST_MS);
		this.repeating = pool(REQUEST_MS);
	}

	/** As brokers that answer have it now. */
	look(): Promise<void> {
		this.looking ??= this.lookUp().finally(() => {
			this.looking = null;
		});
		return this.looking;
	}

	/** Whether the brokers that were asked know all topics: those made a moment ago are not known to each of them at once. */
	get knowsTopics(): boolean {
		return this.topics.every((topic) => this.known.has(topic));
	}

	leaderOf(topic: string, partition: number): number | undefined {
		return this.leaders.get(`${topic}:${partition}`);
	}

	/** That no broker has seen yet. */
	async identify(): Promise<Identity> {
		const { producerId, producerEpoch } = await this.client.initIdempotentProducer({});
		return { producerId, producerEpoch };
	}

	/** Fails where nothing can be sent to it. */
	async connect(leader: number, repeats: boolean): Promise<Connection> {
		const address = this.addresses.get(leader);
		if (!address) throw new NetworkError(`broker ${leader} is not among the brokers that answer`);
		return answered(REQUEST_MS, (repeats ? this.repeating : this.swift).get(address));
	}

	/** All of this identity. From here on they may have been written, also where it fails. */
	async produce(
		connection: Connection,
		identity: Identity,
		batches: readonly Batch[],
	): Promise<ReadonlyMap<Batch, Answer>> {
		const api = await this.api<ProduceApi>('Produce');
		const sequences = new NumericMap(
			batches.map(({ topic, partition, sequence }) => [`${topic}:${partition}`, sequence]),
		);
		const messages = batches.flatMap((batch) => batch.messages);
		const response = await whole(
			api.async(connection, ProduceAcks.ALL, REPLICATED_MS, messages, {
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
		await closeWithin(CLOSE_MS, () =>
			Promise.all([this.client.close(true), this.asking.close(), this.swift.close(), this.repeating.close()]),
		);
	}

	/** Not the client's own: that one fails as a whole where a single partition has no leader. */
	private async lookUp(): Promise<void> {
		const api = await this.api<MetadataApi>('Metadata');
		const { brokers, topics } = await this.first(async (broker) => {
			const connection = await answered(REQUEST_MS, this.asking.get(broker));
			return whole(api.async(connection, [...this.topics], false, false));
		});
		this.addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
		const leaders = new Map<string, number>();
		for (const { name, partitions } of topics)
			for (const { partitionIndex, leaderId } of partitions)
				if (leaderId >= 0) leaders.set(`${name}:${partitionIndex}`, leaderId);
		this.leaders = leaders;
		this.known = new Set(
			topics.flatMap(({ name, partitions }) => (name && partitions.length > 0 ? [name] : [])),
		);
	}

	/** Of the first broker that answers. */
	private async first<T>(ask: (broker: Broker) => Promise<T>): Promise<T> {
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

/** The response, also where it contains errors: it lists them beside what succeeded. */
const whole = <T extends object>(asked: Promise<T>): Promise<T> =>
	asked.catch((error: ResponseError & { readonly response?: T }) => {
		if (error.response) return error.response;
		throw error;
	});

function answerOf(code: number | undefined): Answer {
	if (code === 0) return 'written';
	const id = code === undefined ? undefined : protocolErrorsCodesById[code];
	if (id === undefined) return 'again';
	if (WRITTEN.has(id)) return 'written';
	if (FORGOTTEN.has(id)) return 'forgotten';
	return protocolErrors[id]?.canRetry ? 'again' : 'rejected';
}
