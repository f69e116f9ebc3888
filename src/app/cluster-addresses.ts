import { readFileSync } from 'node:fs';
import type { KafkaConnection } from '../engine/cluster/kafka/client.ts';
import { type Config, ConfigError, missingSettings } from './config.ts';

/** The addresses, credentials and TLS settings of Redis, PostgreSQL and Kafka, read and checked together. */

/** `ca`: PEM of the certificate authorities to trust instead of the system's. */
interface ServiceAddress {
	readonly url: string;
	readonly ca?: string;
}

export interface ClusterAddresses {
	readonly redis: ServiceAddress;
	readonly postgres: ServiceAddress;
	readonly kafka: KafkaConnection;
}

type Given = { readonly [Service in keyof ClusterAddresses]: ClusterAddresses[Service] | null };

export const ADDRESSES = ['redisUrl', 'postgresUrl', 'kafkaBrokers'] as const;

/** Naming one service is enough: the operator wants a cluster, and missing ones are reported. */
export const isCluster = (config: Config): boolean => ADDRESSES.some((name) => config[name] !== null);

/** Throws unless all three services are configured. */
export function clusterAddresses(config: Config): ClusterAddresses {
	const problems = missingAddresses(config);
	const { redis, postgres, kafka } = givenAddresses(config, problems);
	if (problems.length > 0 || redis === null || postgres === null || kafka === null)
		throw new ConfigError(problems);
	return { redis, postgres, kafka };
}

/** Returns the services that are configured and adds what is wrong with their settings to `problems`. */
export function givenAddresses(config: Config, problems: string[]): Given {
	const { redisUrl, postgresUrl, kafkaBrokers } = config;
	problems.push(...saslProblems(config));
	const ca = config.tlsCaFile === null ? null : authorities(config.tlsCaFile, problems);
	const trusted = ca === null ? {} : { ca };
	return {
		redis: redisUrl === null ? null : { url: redisUrl, ...trusted },
		postgres: postgresUrl === null ? null : { url: postgresUrl, ...trusted },
		kafka:
			kafkaBrokers === null
				? null
				: {
						brokers: kafkaBrokers,
						...(config.kafkaTls === 'on' ? { tls: trusted } : {}),
						...sasl(config),
					},
	};
}

/** One problem for each service that is not configured. */
export const missingAddresses = (config: Config): string[] =>
	missingSettings(config, ADDRESSES).map(
		(name) => `${name} is missing: a cluster runs on Redis, PostgreSQL and Kafka`,
	);

function saslProblems({ kafkaSaslUsername, kafkaSaslPassword }: Config): string[] {
	if (kafkaSaslUsername !== null && kafkaSaslPassword === null)
		return ['TIDEMARK_KAFKA_SASL_PASSWORD is missing: TIDEMARK_KAFKA_SASL_USERNAME needs it'];
	if (kafkaSaslUsername === null && kafkaSaslPassword !== null)
		return ['TIDEMARK_KAFKA_SASL_USERNAME is missing: TIDEMARK_KAFKA_SASL_PASSWORD needs it'];
	return [];
}

function sasl(config: Config): Pick<KafkaConnection, 'sasl'> {
	const { kafkaSaslUsername: username, kafkaSaslPassword: password, kafkaSaslMechanism: mechanism } = config;
	return username === null || password === null ? {} : { sasl: { mechanism, username, password } };
}

function authorities(file: string, problems: string[]): string | null {
	try {
		const pem = readFileSync(file, 'utf8');
		if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
		problems.push(`TIDEMARK_TLS_CA_FILE "${file}" contains no certificate in PEM format`);
	} catch (error) {
		problems.push(`TIDEMARK_TLS_CA_FILE "${file}" cannot be read: ${(error as Error).message}`);
	}
	return null;
}
