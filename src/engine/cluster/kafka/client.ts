import type { BaseOptions, SASLOptions } from '@platformatic/kafka';

/** How every client of Kafka in this process connects. */

export interface KafkaConnection {
	/** host:port of some of the brokers; the others are found through them. */
	readonly brokers: readonly string[];
	/** Shows in Kafka's logs and quotas. */
	readonly clientId?: string;
	readonly tls?: NonNullable<BaseOptions['tls']>;
	readonly sasl?: SASLOptions;
}

/** Brokers are near: one that has not answered by then is not going to. */
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

/** Closing needs brokers that answer; when they do not, the process must be able to end all the same. */
export async function closeWithin(ms: number, close: () => Promise<unknown>): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const patience = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([close().catch(() => undefined), patience]);
	clearTimeout(timer);
}
