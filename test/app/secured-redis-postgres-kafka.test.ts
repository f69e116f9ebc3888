import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { openCluster } from '../../src/app/cluster-engine.ts';
import { ConfigError, describeConfig, readConfig } from '../../src/app/config.ts';
import { ServerOperations } from '../../src/app/operations.ts';
import { explainFailure } from '../../src/app/start-failures.ts';
import { certificateForLocalhost } from '../push/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { onPostgres, postgresUrl } from '../support/postgres.ts';

/** A cluster on services with TLS and passwords, and the errors if one of these is wrong. */

const PASSWORD = 'a-password-nobody-may-read';
/** An installation whose topics do not exist. */
const OTHER_INSTALLATION = `secured_${process.pid}_other`;
const closing: (() => Promise<unknown> | unknown)[] = [];
let right: Record<string, string>;

beforeAll(async () => {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-secured-'));
	closing.push(() => rm(directory, { recursive: true }));
	const { key, cert } = certificateForLocalhost();
	const [keyFile, certFile, secret] = ['key.pem', 'cert.pem', 'secret'].map((name) => join(directory, name));
	await Promise.all([
		writeFile(keyFile as string, key, { mode: 0o600 }),
		writeFile(certFile as string, cert),
		writeFile(secret as string, `${kafka().password}\n`),
	]);
	right = {
		TIDEMARK_REDIS_URL: await redisWithTls(keyFile as string, certFile as string),
		TIDEMARK_POSTGRES_URL: await postgresWithTls(key, cert),
		TIDEMARK_KAFKA_BROKERS: kafka().broker,
		TIDEMARK_KAFKA_SASL_USERNAME: kafka().username,
		TIDEMARK_KAFKA_SASL_PASSWORD_FILE: secret as string,
		TIDEMARK_KAFKA_SASL_MECHANISM: 'PLAIN',
		TIDEMARK_KAFKA_PARTITIONS: '1',
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_TLS_CA_FILE: certFile as string,
		TIDEMARK_INSTALLATION: `secured_${process.pid}`,
	};
});
afterAll(async () => {
	for (const schema of [`secured_${process.pid}`, OTHER_INSTALLATION])
		await onPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
	for (const close of closing.reverse()) await close();
});

function kafka() {
	const setting = process.env.TIDEMARK_TEST_KAFKA_SASL;
	const [, username = '', password = '', broker = ''] = /^(.+):(.+)@(.+)$/.exec(setting ?? '') ?? [];
	if (!broker) throw new Error('TIDEMARK_TEST_KAFKA_SASL is not set: scripts/services up kafka prints it');
	return { username, password, broker };
}

async function redisWithTls(key: string, cert: string): Promise<string> {
	const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
	const { port } = listener;
	listener.stop(true);
	const tls = ['--tls-port', String(port), '--tls-cert-file', cert, '--tls-key-file', key];
	const server = Bun.spawn(
		['redis-server', '--port', '0', '--bind', '127.0.0.1', '--save', '', ...tls]
			.concat(['--tls-auth-clients', 'no', '--tls-ca-cert-file', cert])
			.concat(['--requirepass', PASSWORD]),
		{ stdout: 'ignore', stderr: 'ignore' },
	);
	closing.push(() => {
		server.kill();
		return server.exited;
	});
	return `rediss://:${PASSWORD}@localhost:${port}`;
}

/** The shared test server accepts connections with and without TLS. */
async function postgresWithTls(key: string, cert: string): Promise<string> {
	const put = (text: string, file: string) =>
		onPostgres(
			`COPY (SELECT '${Buffer.from(text).toString('base64')}') TO PROGRAM 'umask 077 && base64 -d > ${file}'`,
		);
	await put(key, 'server.key');
	await put(cert, 'server.crt');
	await onPostgres('ALTER SYSTEM SET ssl = on');
	await onPostgres('SELECT pg_reload_conf()');
	const url = new URL(postgresUrl());
	url.hostname = 'localhost';
	url.searchParams.set('sslmode', 'verify-full');
	return url.href;
}

const open = (changed: Record<string, string | undefined> = {}) => {
	const config = readConfig({}, { ...right, ...changed });
	return openCluster(config, new ServerOperations(pino({ level: 'silent' }), 'gateway'));
};

/** The error that an operator sees at the start. */
async function rejection(changed: Record<string, string | undefined>): Promise<string> {
	try {
		await (await open(changed)).close();
	} catch (error) {
		return error instanceof ConfigError ? error.message : explainFailure(error);
	}
	return 'it started';
}

test('the cluster starts and works with trusted certificates and correct passwords', async () => {
	// Neither server is ready at once.
	const cluster = await eventually(() => open(), 30_000);
	// The server checks Redis, PostgreSQL, and that Redis has lost nothing.
	await cluster.epochs.begin(() => 1);
	expect((await cluster.readState.counts('U01')).rows).toEqual([]);
	await cluster.logs.marks.append([{ type: 'activity', user: 'U01', at: 1, active: true }]);
	await cluster.close();
});

const redisWithout = (change: (url: URL) => void): Record<string, string> => {
	const url = new URL(right.TIDEMARK_REDIS_URL as string);
	change(url);
	return { TIDEMARK_REDIS_URL: url.href };
};

const cases: [string, () => Record<string, string | undefined>, RegExp][] = [
	[
		'an untrusted certificate of Redis',
		() => ({ TIDEMARK_TLS_CA_FILE: undefined }),
		/^Redis cannot be used at localhost:\d+ over TLS: .*certificate.*TIDEMARK_TLS_CA_FILE to the certificate/,
	],
	[
		'a wrong password of Redis',
		() => redisWithout((url) => Object.assign(url, { password: 'wrong-one' })),
		/^Redis cannot be used at localhost:\d+ over TLS: .*WRONGPASS.*TIDEMARK_REDIS_URL\.$/,
	],
	[
		'a wrong password of PostgreSQL',
		() => ({ TIDEMARK_POSTGRES_URL: right.TIDEMARK_POSTGRES_URL?.replace(/:[^:@]+@/, ':wrong-one@') }),
		/^PostgreSQL cannot be used at localhost:\d+\/postgres: password authentication failed.*TIDEMARK_POSTGRES_URL\.$/,
	],
	[
		'a wrong password of Kafka',
		() => ({ TIDEMARK_KAFKA_SASL_PASSWORD: 'wrong-one' }),
		/^Kafka cannot be used at .*uthentication.*TIDEMARK_KAFKA_SASL_USERNAME, …_PASSWORD and …_MECHANISM\.$/,
	],
	[
		'an unreachable Redis',
		() => redisWithout((url) => Object.assign(url, { port: '9' })),
		/^Redis cannot be used at localhost:9 over TLS: .*ECONNREFUSED.* Start it, or correct TIDEMARK_REDIS_URL\.$/,
	],
	[
		'a Redis that does not speak TLS',
		() => ({ TIDEMARK_REDIS_URL: process.env.TIDEMARK_TEST_REDIS_URL?.replace('redis://', 'rediss://') }),
		/^Redis cannot be used at .* over TLS: .* may use TLS .* check TIDEMARK_REDIS_URL: rediss:\/\/ .*\.$/,
	],
	[
		'an unreachable PostgreSQL',
		() => ({ TIDEMARK_POSTGRES_URL: `postgres://somebody:${PASSWORD}@127.0.0.1:9/chat` }),
		/^PostgreSQL cannot be used at 127\.0\.0\.1:9\/chat: .*ECONNREFUSED.* Start it, or correct TIDEMARK_POSTGRES_URL\.$/,
	],
	[
		'a PostgreSQL whose host name cannot be resolved',
		() => ({ TIDEMARK_POSTGRES_URL: `postgres://somebody:${PASSWORD}@nowhere.invalid/chat` }),
		/^PostgreSQL cannot be used at nowhere\.invalid:5432\/chat: .*nowhere\.invalid\. Start it, or correct TIDEMARK_POSTGRES_URL\.$/,
	],
	[
		'an unreachable Kafka',
		() => ({ TIDEMARK_KAFKA_BROKERS: '127.0.0.1:9' }),
		/^Kafka cannot be used at 127\.0\.0\.1:9: .*ECONNREFUSED.* Start it, or correct TIDEMARK_KAFKA_BROKERS\.$/,
	],
	[
		'a Kafka that does not speak TLS',
		() => ({ TIDEMARK_KAFKA_TLS: 'on' }),
		/^Kafka cannot be used at .* check TIDEMARK_KAFKA_TLS and TIDEMARK_KAFKA_BROKERS\.$/,
	],
	[
		'fewer brokers than replicas',
		() => ({ TIDEMARK_KAFKA_REPLICATION: '3', TIDEMARK_INSTALLATION: OTHER_INSTALLATION }),
		/^Kafka cannot be used at .*[Rr]eplication factor.*[^.]\. Start more brokers, or lower TIDEMARK_KAFKA_REPLICATION\.$/,
	],
	[
		'a name without a password',
		() => ({ TIDEMARK_KAFKA_SASL_PASSWORD_FILE: undefined }),
		/^TIDEMARK_KAFKA_SASL_PASSWORD is missing/,
	],
	[
		'a secret in a missing file',
		() => ({ TIDEMARK_KAFKA_SASL_PASSWORD_FILE: '/nowhere/secret' }),
		/^TIDEMARK_KAFKA_SASL_PASSWORD cannot be read from \/nowhere\/secret/,
	],
	[
		'a file without certificate authorities',
		() => ({ TIDEMARK_TLS_CA_FILE: right.TIDEMARK_KAFKA_SASL_PASSWORD_FILE }),
		/^TIDEMARK_TLS_CA_FILE ".+" contains no certificate/,
	],
];

for (const [what, changed, expected] of cases)
	test(`${what} is reported in one line, without any password`, async () => {
		const line = await rejection(changed());
		expect(line).toMatch(expected);
		expect(line).not.toContain('\n');
		for (const secret of [PASSWORD, 'wrong-one', kafka().password]) expect(line).not.toContain(secret);
	});

test('the printed settings contain no passwords', () => {
	const shown = JSON.stringify(describeConfig(readConfig({}, right)));
	for (const secret of [PASSWORD, kafka().password, new URL(postgresUrl()).password])
		expect(shown).not.toContain(secret);
});
