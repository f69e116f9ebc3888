import { address, hostsAndPorts, name, oneOf, setting, text, wholeNumber } from './setting.ts';

/** Settings of a cluster: its services, their credentials and what Tidemark creates in them. */
export const clusterSettings = {
	redisUrl: setting(
		'redis-url',
		'Redis, or any node of a Redis Cluster: redis://user:password@host:port, rediss://… for TLS (cluster)',
		null as string | null,
		address('redis', 'rediss'),
		true,
	),
	postgresUrl: setting(
		'postgres-url',
		'PostgreSQL: postgres://user:password@host:port/database, with ?sslmode=verify-full for TLS (cluster)',
		null as string | null,
		address('postgres', 'postgresql'),
		true,
	),
	kafkaBrokers: setting(
		'kafka-brokers',
		'Kafka: host:port of some brokers, separated by commas (cluster)',
		null as readonly string[] | null,
		hostsAndPorts,
	),
	kafkaTls: setting(
		'kafka-tls',
		'connect to Kafka over TLS: on or off (cluster)',
		'off' as 'on' | 'off',
		oneOf('on', 'off'),
	),
	kafkaSaslUsername: setting(
		'kafka-sasl-username',
		'user name for Kafka; enables SASL (cluster)',
		null as string | null,
		text,
	),
	kafkaSaslPassword: setting(
		'kafka-sasl-password',
		'password for Kafka (cluster)',
		null as string | null,
		text,
		true,
	),
	kafkaSaslMechanism: setting(
		'kafka-sasl-mechanism',
		'SASL mechanism: PLAIN (over TLS only), SCRAM-SHA-256 or SCRAM-SHA-512 (cluster)',
		'SCRAM-SHA-512' as 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512',
		oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
	),
	tlsCaFile: setting(
		'tls-ca-file',
		'PEM file of the certificate authorities for Redis, PostgreSQL and Kafka, instead of the system’s (cluster)',
		null as string | null,
		text,
	),
	kafkaPartitions: setting(
		'kafka-partitions',
		'partitions of each topic that Tidemark creates: the maximum number of workers that share the load (cluster)',
		64,
		wholeNumber(1, 10_000),
	),
	kafkaReplication: setting(
		'kafka-replication',
		'replication factor of each topic that Tidemark creates (cluster)',
		3,
		wholeNumber(1, 100),
	),
	installation: setting(
		'installation',
		'name of this installation: prefix of Redis keys and Kafka topics, name of the PostgreSQL schema (cluster)',
		'tidemark',
		name,
	),
} as const;
