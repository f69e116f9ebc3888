import { networkOf } from '../gateway/http/client-address.ts';
import { isHostPattern, KNOWN_HOSTS } from '../push/web/allowed-hosts.ts';
import { type VapidKey, vapidKeyOf } from '../push/web/vapid.ts';

/**
 * The one schema of configuration: every setting, its environment variable and flag, unit and default. Help,
 * checks and the line printed at start are made from it.
 */

/** What reads settings besides `serve` and `doctor`: roles of a cluster, and commands that call a running server. */
export type OtherReader = 'cluster' | 'asking';

export interface Setting<T> {
	readonly environment: `TIDEMARK_${string}`;
	readonly flag: string;
	readonly help: string;
	/** For those to which the setting means something else. */
	readonly helpFor?: Partial<Readonly<Record<OtherReader, string>>>;
	readonly fallback: T;
	readonly secret?: boolean;
	/** Throws an error that says what is wrong with the text. */
	readonly parse: (text: string) => T;
}

const setting = <T>(
	name: string,
	helps: string | Pick<Setting<T>, 'help' | 'helpFor'>,
	fallback: T,
	parse: (text: string) => T,
	secret = false,
): Setting<T> => ({
	environment: `TIDEMARK_${name.replaceAll('-', '_').toUpperCase()}`,
	flag: name,
	...(typeof helps === 'string' ? { help: helps } : helps),
	fallback,
	parse,
	...(secret ? { secret } : {}),
});

const text = (value: string): string => {
	if (value === '') throw new Error('is empty');
	return value;
};

const name = (value: string): string => {
	if (!/^[a-z][a-z0-9_]{0,31}$/.test(value))
		throw new Error('is not a name of at most 32 lower-case letters, digits and _, with a letter first');
	return value;
};

export const wholeNumber =
	(least: number, most: number) =>
	(value: string): number => {
		const number = Number(value);
		if (!/^\d+$/.test(value) || number < least || number > most)
			throw new Error(`is not a whole number from ${least} to ${most}`);
		return number;
	};

const portNumber = (value: string): number => {
	if (value.startsWith('tcp://'))
		throw new Error(
			'is set by Kubernetes in every pod for a Service named "tidemark": set enableServiceLinks: false in the pod’s spec',
		);
	return wholeNumber(0, 65_535)(value);
};

const oneOf =
	<T extends string>(...choices: readonly T[]) =>
	(value: string): T => {
		const choice = choices.find((one) => one === value);
		if (choice === undefined) throw new Error(`is not one of ${choices.join(', ')}`);
		return choice;
	};

const address =
	(...protocols: readonly string[]) =>
	(value: string): string => {
		const url = URL.canParse(value) ? new URL(value) : null;
		if (!url || !protocols.includes(url.protocol.slice(0, -1)))
			throw new Error(`is not an address like ${protocols[0]}://host:port`);
		return value;
	};

const hostsAndPorts = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	if (!items.every((item) => /^[^\s:]+:\d+$/.test(item)))
		throw new Error('is not a list like host:port,host:port');
	return items;
};

const hostPatterns = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	if (!items.every(isHostPattern)) throw new Error('is not a list like host,*.host,host:port');
	return items;
};

const networks = (value: string): readonly string[] => {
	if (value === 'none') return [];
	const items = value.split(',').map((item) => item.trim());
	if (!items.every((item) => networkOf(item))) throw new Error('is not a list like 10.0.0.0/8,192.0.2.7,::1');
	return items;
};

/** Push services check it, Apple’s strictly. */
const contact = (value: string): string => {
	if (!/^mailto:[^\s@]+@[^\s@]+$/.test(value) && !(URL.canParse(value) && value.startsWith('https://')))
		throw new Error('is neither mailto:somebody@host nor an https address');
	return value;
};

const origin = (value: string): string => {
	if (!URL.canParse(value) || new URL(value).origin !== value.replace(/\/$/, ''))
		throw new Error('is not an address like https://chat.example.org');
	return new URL(value).origin;
};

const origins = (value: string): readonly string[] => {
	const items = value.split(',').map((item) => item.trim());
	const isOrigin = (item: string): boolean => URL.canParse(item) && new URL(item).origin === item;
	if (!items.every((item) => item === '*' || isOrigin(item)))
		throw new Error('is not a list like https://app.example.org,https://example.org');
	return items;
};

const atLeastBytes =
	(least: number) =>
	(value: string): string => {
		if (Buffer.byteLength(value) < least) throw new Error(`is shorter than ${least} bytes`);
		return value;
	};

export const SETTINGS = {
	host: setting('host', 'address to listen on', '0.0.0.0', text),
	port: setting(
		'port',
		{
			help: 'port to listen on; 0 picks a free one',
			helpFor: { asking: 'port of the server on this machine, unless --url is given' },
		},
		8080,
		portNumber,
	),
	dataDir: setting(
		'data-dir',
		{
			help: 'directory for all data',
			helpFor: { asking: 'data directory of the server, which holds the administrator’s token' },
		},
		'./data',
		text,
	),
	adminToken: setting(
		'admin-token',
		{
			help: 'the administrator’s token; if not set, `serve` generates one, prints it once and keeps it in the data directory',
			helpFor: {
				cluster: 'the administrator’s token: the same on all gateways; workers need none',
				asking: 'the administrator’s token of that server; if not set, the one in the data directory',
			},
		},
		null as string | null,
		atLeastBytes(16),
		true,
	),
	jwtSecret: setting(
		'jwt-secret',
		'secret that signs your product’s JWTs (HS256)',
		null as string | null,
		atLeastBytes(32),
		true,
	),
	jwtJwks: setting(
		'jwt-jwks',
		'JWKS that verifies your product’s JWTs: a URL or a file',
		null as string | null,
		text,
	),
	jwtAudience: setting(
		'jwt-audience',
		'required value in the claim `aud` of a JWT; if not set, `aud` is not checked',
		null as string | null,
		text,
	),
	jwtIssuer: setting(
		'jwt-issuer',
		'required value of the claim `iss` of a JWT; if not set, `iss` is not checked',
		null as string | null,
		text,
	),
	allowedOrigins: setting(
		'allowed-origins',
		'origins of web pages that may call the API (CORS), separated by commas; * allows any',
		null as readonly string[] | null,
		origins,
	),
	publicUrl: setting(
		'public-url',
		'address that clients reach this server at, for links to files; if not set, each client gets the address that it connected to',
		null as string | null,
		origin,
	),
	filesDir: setting(
		'files-dir',
		{
			help: 'directory for the content of files; if not set, `files` in the data directory',
			helpFor: { cluster: 'directory for the content of files, shared by all gateways; or set s3-bucket' },
		},
		null as string | null,
		text,
	),
	fileMaxMb: setting('file-max-mb', 'maximum size of a file; 0 disables files', 100, wholeNumber(0, 10_240)),
	teamFilesMb: setting(
		'team-files-mb',
		'maximum size of all files of a workspace together',
		10_240,
		wholeNumber(1, 1_000_000_000),
	),
	s3Bucket: setting(
		's3-bucket',
		'S3-compatible bucket for the content of files, instead of a directory',
		null as string | null,
		text,
	),
	s3Endpoint: setting(
		's3-endpoint',
		'address of the S3-compatible service; if not set, Amazon’s',
		null as string | null,
		address('https', 'http'),
	),
	s3Region: setting('s3-region', 'region of the bucket', 'us-east-1', text),
	s3AccessKeyId: setting('s3-access-key-id', 'access key id for the bucket', null as string | null, text),
	s3SecretAccessKey: setting(
		's3-secret-access-key',
		'secret access key for the bucket',
		null as string | null,
		text,
		true,
	),
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
	requestsPerSecond: setting(
		'requests-per-second',
		'requests and frames that a user may send per second, averaged; 0: no limit',
		1_000,
		wholeNumber(0, 1_000_000),
	),
	postsPerSecond: setting(
		'posts-per-second',
		'messages that a user may post per second, averaged; 0: no limit',
		500,
		wholeNumber(0, 1_000_000),
	),
	connectsPerSecond: setting(
		'connects-per-second',
		'sockets that a user may open per second, averaged; 0: no limit',
		10,
		wholeNumber(0, 1_000_000),
	),
	socketsPerUser: setting(
		'sockets-per-user',
		'maximum number of open sockets per user; further ones are closed with 4204',
		100,
		wholeNumber(1, 1_000_000),
	),
	socketsPerAddress: setting(
		'sockets-per-address',
		'maximum number of open sockets per address; further ones are closed with 4003 after a pause',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	anonymousPerSecond: setting(
		'anonymous-per-second',
		'requests without a valid token that an address may send per second, averaged; 0: no limit',
		50,
		wholeNumber(0, 1_000_000),
	),
	trustedProxies: setting(
		'trusted-proxies',
		'addresses and networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas; none: trust no proxy',
		['127.0.0.0/8', '::1'] as readonly string[],
		networks,
	),
	bodyMemoryMb: setting(
		'body-memory-mb',
		'memory for request bodies in flight; a user or address gets at most an eighth of it',
		64,
		wholeNumber(8, 65_536),
	),
	answerMemoryMb: setting(
		'answer-memory-mb',
		'memory for large answers that clients have not read yet, at most an eighth of it per user; and as much again for sockets',
		128,
		wholeNumber(32, 65_536),
	),
	socketBufferKb: setting(
		'socket-buffer-kb',
		'unread output per socket; a slower client is disconnected',
		1_024,
		wholeNumber(16, 1_048_576),
	),
	socketTimeoutSeconds: setting(
		'socket-timeout-seconds',
		'silence after which a client is pinged; after as long again without an answer, its socket is closed',
		30,
		wholeNumber(1, 3_600),
	),
	idleMinutes: setting(
		'idle-minutes',
		'how long unused conversations and users stay in memory',
		24 * 60,
		wholeNumber(5, 525_600),
	),
	resumeChanges: setting(
		'resume-changes',
		'missed changes that a client can still resume over; beyond, it reloads everything',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	focusIdleSeconds: setting(
		'focus-idle-seconds',
		'time without a sign of life after which a device’s focus no longer marks messages read',
		600,
		wholeNumber(1, 86_400),
	),
	pushDelaySeconds: setting(
		'push-delay-seconds',
		'delay before a phone is notified while the user is active on another device',
		15,
		wholeNumber(0, 3_600),
	),
	apnsKeyFile: setting(
		'apns-key-file',
		'APNs key file (AuthKey_….p8); enables push to Apple’s devices',
		null as string | null,
		text,
	),
	apnsKeyId: setting('apns-key-id', 'id of the APNs key', null as string | null, text),
	apnsTeamId: setting('apns-team-id', 'team id of the Apple developer account', null as string | null, text),
	apnsTopic: setting(
		'apns-topic',
		'bundle id of the application; a device may name another one',
		null as string | null,
		text,
	),
	apnsHost: setting('apns-host', 'address of APNs', 'https://api.push.apple.com', address('https')),
	fcmServiceAccountFile: setting(
		'fcm-service-account-file',
		'FCM service account file (JSON); enables push to Android and browsers',
		null as string | null,
		text,
	),
	fcmHost: setting('fcm-host', 'address of FCM', 'https://fcm.googleapis.com', address('https')),
	webPush: setting(
		'web-push',
		'Web Push to browsers: on or off; a cluster also needs vapid-private-key',
		'on' as const,
		oneOf('on', 'off'),
	),
	vapidPrivateKey: setting(
		'vapid-private-key',
		{
			help: 'private key of Web Push (npx web-push generate-vapid-keys creates one); if not set, `serve` generates one and keeps it in the data directory',
			helpFor: {
				cluster:
					'private key of Web Push (npx web-push generate-vapid-keys creates one), the same on all gateways and workers; if not set, Web Push is disabled',
			},
		},
		null as VapidKey | null,
		vapidKeyOf,
		true,
	),
	vapidContact: setting(
		'vapid-contact',
		'contact for the operators of push services: mailto:… or https://…',
		'mailto:operator@example.com',
		contact,
	),
	webPushHosts: setting(
		'web-push-hosts',
		'hosts of push services that the server may call, separated by commas',
		KNOWN_HOSTS,
		hostPatterns,
	),
	appPrivateAddresses: setting(
		'app-private-addresses',
		'allow private addresses (10.0.0.0/8, 127.0.0.1 and the like) in URLs of apps: on or off; link-local ones are never allowed',
		'on' as 'on' | 'off',
		oneOf('on', 'off'),
	),
	appRetrySeconds: setting(
		'app-retry-seconds',
		'how long an event is retried before it is given up, and after how long without a success an app that takes events over HTTP is paused',
		3_600,
		wholeNumber(1, 86_400),
	),
	logLevel: setting(
		'log-level',
		'lowest level to log: debug, info, warn or error',
		'info' as const,
		oneOf('debug', 'info', 'warn', 'error'),
	),
	logFormat: setting(
		'log-format',
		'log format: text, json, or auto (text on a terminal, json elsewhere)',
		'auto' as const,
		oneOf('auto', 'text', 'json'),
	),
} as const satisfies Record<string, Setting<never> | object>;

export type SettingName = keyof typeof SETTINGS;

/** Required with the APNs key, and useless without it. */
export const BESIDE_APNS_KEY = [
	'apnsKeyId',
	'apnsTeamId',
	'apnsTopic',
] as const satisfies readonly SettingName[];
