import { readFileSync } from 'node:fs';
import type { KafkaConnection } from '../engine/cluster/kafka/client.ts';
import { type Config, ConfigError, missing } from './config.ts';

/** Where Redis, PostgreSQL and Kafka are, and how they are spoken to: from the settings, checked as a whole. */

/** Of a service that speaks TLS: authorities in place of the usual ones, PEM. */
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

/** A cluster is meant as soon as one of its services is named. */
export const isCluster = (config: Config): boolean => ADDRESSES.some((name) => config[name] !== null);

/** All three are needed. */
export function clusterAddresses(config: Config): ClusterAddresses {
	const problems = missingAddresses(config);
	const { redis, postgres, kafka } = givenAddresses(config, problems);
	if (problems.length > 0 || redis === null || postgres === null || kafka === null)
		throw new ConfigError(problems);
	return { redis, postgres, kafka };
}

/** Those that the settings name; what is wrong about them is added to the problems. */
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

/** Problems with the settings that a cluster needs. */
export const missingAddresses = (config: Config): string[] =>
	missing(config, ADDRESSES).map(
		(name) => `${name} is missing: a cluster runs on Redis, PostgreSQL and Kafka`,
	);

function saslProblems({ kafkaSaslUsername, kafkaSaslPassword }: Config): string[] {
	if (kafkaSaslUsername !== null && kafkaSaslPassword === null)
		return ['TIDEMARK_KAFKA_SASL_PASSWORD is missing: it belongs to TIDEMARK_KAFKA_SASL_USERNAME'];
	if (kafkaSaslUsername === null && kafkaSaslPassword !== null)
		return ['TIDEMARK_KAFKA_SASL_USERNAME is missing: it belongs to TIDEMARK_KAFKA_SASL_PASSWORD'];
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
		problems.push(`TIDEMARK_TLS_CA_FILE "${file}" holds no certificate (PEM)`);
	} catch (error) {
		problems.push(`TIDEMARK_TLS_CA_FILE "${file}" cannot be read: ${(error as Error).message}`);
	}
	return null;
}
