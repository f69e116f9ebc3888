import { networkOf } from '../gateway/http/client-address.ts';
import { isHostPattern, KNOWN_HOSTS } from '../push/web/allowed-hosts.ts';
import { type VapidKey, vapidKeyOf } from '../push/web/vapid.ts';

/**
 * The one schema of configuration: every setting, its environment variable and flag, unit and default. Help,
 * checks and the line printed at start are made from it.
 */

/** Who else than `serve` and `doctor` goes by settings: roles of a cluster, and commands that ask a running server. */
export type OtherReader = 'cluster' | 'asking';

export interface Setting<T> {
	readonly environment: `TIDEMARK_${string}`;
	readonly flag: string;
	readonly help: string;
	/** Where a setting means something else to them. */
	readonly helpFor?: Partial<Readonly<Record<OtherReader, string>>>;
	readonly fallback: T;
	readonly secret?: boolean;
	/** Throws with what is wrong about the text. */
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
		throw new Error('is not a name of small letters, digits and _ with up to 32 characters');
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
			'is what Kubernetes sets in every pod for a Service named "tidemark": put enableServiceLinks: false into the spec of the pod',
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

/** Browsers and push services look at it, Apple’s closely. */
const contact = (value: string): string => {
	if (!/^mailto:[^\s@]+@[^\s@]+$/.test(value) && !(URL.canParse(value) && value.startsWith('https://')))
		throw new Error('is neither mailto:somebody@host nor an https address');
	return value;
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
			help: 'port to listen on; 0 takes a free one',
			helpFor: { asking: 'port of the server on this machine, where --url does not say where it is' },
		},
		8080,
		portNumber,
	),
	dataDir: setting(
		'data-dir',
		{
			help: 'directory that holds everything',
			helpFor: { asking: 'directory of the server, where its administrator’s token is kept' },
		},
		'./data',
		text,
	),
	adminToken: setting(
		'admin-token',
		{
			help: 'the administrator’s token; where not set, `serve` makes one, prints it once and keeps it in the data directory',
			helpFor: {
				cluster: 'the administrator’s token: gateways need it, all of them the same one; workers do not',
				asking: 'the administrator’s token of that server; where not set, the one in the data directory',
			},
		},
		null as string | null,
		atLeastBytes(16),
		true,
	),
	jwtSecret: setting(
		'jwt-secret',
		'secret of your product’s JWTs (HS256)',
		null as string | null,
		atLeastBytes(32),
		true,
	),
	jwtJwks: setting(
		'jwt-jwks',
		'JWKS of your product’s JWTs: an address or a file',
		null as string | null,
		text,
	),
	jwtAudience: setting(
		'jwt-audience',
		'what the claim `aud` of a JWT has to name; where not set, `aud` is not checked',
		null as string | null,
		text,
	),
	jwtIssuer: setting(
		'jwt-issuer',
		'what the claim `iss` of a JWT has to be; where not set, `iss` is not checked',
		null as string | null,
		text,
	),
	allowedOrigins: setting(
		'allowed-origins',
		'origins of web pages that may call the methods (CORS), separated by commas; *: any',
		null as readonly string[] | null,
		origins,
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
		'whether Kafka is spoken to over TLS: on or off (cluster)',
		'off' as 'on' | 'off',
		oneOf('on', 'off'),
	),
	kafkaSaslUsername: setting(
		'kafka-sasl-username',
		'name under which Kafka knows this process; with it, SASL is used (cluster)',
		null as string | null,
		text,
	),
	kafkaSaslPassword: setting(
		'kafka-sasl-password',
		'password that belongs to it (cluster)',
		null as string | null,
		text,
		true,
	),
	kafkaSaslMechanism: setting(
		'kafka-sasl-mechanism',
		'how it is proven: PLAIN (over TLS only), SCRAM-SHA-256 or SCRAM-SHA-512 (cluster)',
		'SCRAM-SHA-512' as 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512',
		oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
	),
	tlsCaFile: setting(
		'tls-ca-file',
		'file with the authorities (PEM) that certificates of Redis, PostgreSQL and Kafka are checked by, in place of the usual ones (cluster)',
		null as string | null,
		text,
	),
	kafkaPartitions: setting(
		'kafka-partitions',
		'partitions of each topic that has to be made: as many workers can share the work (cluster)',
		64,
		wholeNumber(1, 10_000),
	),
	kafkaReplication: setting(
		'kafka-replication',
		'brokers that hold each entry of a topic that has to be made (cluster)',
		3,
		wholeNumber(1, 100),
	),
	installation: setting(
		'installation',
		'name of this installation: in front of keys and topics, and that of the schema (cluster)',
		'tidemark',
		name,
	),
	requestsPerSecond: setting(
		'requests-per-second',
		'requests and frames a user may send in the long run; 0: no limit',
		1_000,
		wholeNumber(0, 1_000_000),
	),
	postsPerSecond: setting(
		'posts-per-second',
		'messages a user may post in the long run; 0: no limit',
		500,
		wholeNumber(0, 1_000_000),
	),
	connectsPerSecond: setting(
		'connects-per-second',
		'sockets a user may open in the long run; 0: no limit',
		10,
		wholeNumber(0, 1_000_000),
	),
	socketsPerUser: setting(
		'sockets-per-user',
		'sockets a user may have open at once; one more is closed with 4204',
		100,
		wholeNumber(1, 1_000_000),
	),
	socketsPerAddress: setting(
		'sockets-per-address',
		'sockets that may be open from one address at once; one more is closed with 4003 after a pause',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	anonymousPerSecond: setting(
		'anonymous-per-second',
		'requests without a valid token that one address may send in the long run; 0: no limit',
		50,
		wholeNumber(0, 1_000_000),
	),
	trustedProxies: setting(
		'trusted-proxies',
		'addresses and networks of reverse proxies whose X-Forwarded-For names the client, separated by commas; none: no proxy is trusted',
		['127.0.0.0/8', '::1'] as readonly string[],
		networks,
	),
	bodyMemoryMb: setting(
		'body-memory-mb',
		'memory for request bodies that are arriving; one user or address gets at most an eighth of it',
		64,
		wholeNumber(8, 65_536),
	),
	answerMemoryMb: setting(
		'answer-memory-mb',
		'memory for large answers that clients have not taken yet, one user at most an eighth of it; and as much for what sockets have not',
		128,
		wholeNumber(32, 65_536),
	),
	socketBufferKb: setting(
		'socket-buffer-kb',
		'unread output after which a slow client is cut off',
		1_024,
		wholeNumber(16, 1_048_576),
	),
	socketTimeoutSeconds: setting(
		'socket-timeout-seconds',
		'a client silent for this long is pinged; if it stays silent for as long again, its socket is closed',
		30,
		wholeNumber(1, 3_600),
	),
	idleMinutes: setting(
		'idle-minutes',
		'how long conversations and users stay in memory without being used',
		24 * 60,
		wholeNumber(5, 525_600),
	),
	resumeChanges: setting(
		'resume-changes',
		'changes that a client may have missed and still resume; beyond, it fetches everything anew',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	focusIdleSeconds: setting(
		'focus-idle-seconds',
		'after how long without a sign of life a device no longer reads what it has in focus',
		600,
		wholeNumber(1, 86_400),
	),
	pushDelaySeconds: setting(
		'push-delay-seconds',
		'how long somebody who is active elsewhere has to see a message there before their phone is told',
		15,
		wholeNumber(0, 3_600),
	),
	apnsKeyFile: setting(
		'apns-key-file',
		'file with the key of APNs (AuthKey_….p8); with it, Apple’s devices are told',
		null as string | null,
		text,
	),
	apnsKeyId: setting('apns-key-id', 'id of that key', null as string | null, text),
	apnsTeamId: setting('apns-team-id', 'id of the developer account’s team', null as string | null, text),
	apnsTopic: setting(
		'apns-topic',
		'bundle id of the application; a device may say another one',
		null as string | null,
		text,
	),
	apnsHost: setting('apns-host', 'where APNs is', 'https://api.push.apple.com', address('https')),
	fcmServiceAccountFile: setting(
		'fcm-service-account-file',
		'file with the service account of FCM (JSON); with it, Android and browsers are told',
		null as string | null,
		text,
	),
	fcmHost: setting('fcm-host', 'where FCM is', 'https://fcm.googleapis.com', address('https')),
	webPush: setting(
		'web-push',
		'whether browsers are told (Web Push): on or off; a cluster needs the key below as well',
		'on' as const,
		oneOf('on', 'off'),
	),
	vapidPrivateKey: setting(
		'vapid-private-key',
		{
			help: 'private key of Web Push (npx web-push generate-vapid-keys makes one); where not set, `serve` makes one and keeps it in the data directory',
			helpFor: {
				cluster:
					'private key of Web Push (npx web-push generate-vapid-keys makes one), the same for all gateways and workers; where not set, there is no Web Push',
			},
		},
		null as VapidKey | null,
		vapidKeyOf,
		true,
	),
	vapidContact: setting(
		'vapid-contact',
		'where those who run push services can write to: mailto:… or https://…',
		'mailto:operator@example.com',
		contact,
	),
	webPushHosts: setting(
		'web-push-hosts',
		'push services that are spoken to, separated by commas',
		KNOWN_HOSTS,
		hostPatterns,
	),
	logLevel: setting(
		'log-level',
		'what is logged: debug, info, warn or error',
		'info' as const,
		oneOf('debug', 'info', 'warn', 'error'),
	),
} as const satisfies Record<string, Setting<never> | object>;

export type SettingName = keyof typeof SETTINGS;

/** Of no use without the key of APNs, and the key is of none without them. */
export const BESIDE_APNS_KEY = [
	'apnsKeyId',
	'apnsTeamId',
	'apnsTopic',
] as const satisfies readonly SettingName[];
