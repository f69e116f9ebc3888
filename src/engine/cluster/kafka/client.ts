import type { BaseOptions, SASLOptions } from '@platformatic/kafka';

/** Connection settings of every Kafka client in this process. */

export interface KafkaConnection {
	/** host:port of some brokers; the client discovers the others. */
	readonly brokers: readonly string[];
	/** Appears in Kafka's logs and quotas. */
	readonly clientId?: string;
	readonly tls?: NonNullable<BaseOptions['tls']>;
	readonly sasl?: SASLOptions;
}

/** Brokers are nearby: one that has not answered by then is down. */
const CONNECT_MS = 3000;
const RETRY_MS = 200;

export const clientOptions = (connection: KafkaConnection): BaseOptions => ({
	clientId: connection.clientId ?? 'tidemark',
	bootstrapBrokers: [...connection.brokers],
	connectTimeout: CONNECT_MS,
	timeout: CONNECT_MS,
	retries: 3,
	retryDelay: RETRY_MS,
	autocreateTopics: false,
	...(connection.tls ? { tls: connection.tls } : {}),
	...(connection.sasl ? { sasl: connection.sasl } : {}),
});

/** Ignores errors and gives up after `ms`: without brokers that answer, the process must still be able to exit. */
export async function settleWithin(ms: number, work: () => Promise<unknown>): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const patience = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([work().catch(() => undefined), patience]);
	clearTimeout(timer);
}
