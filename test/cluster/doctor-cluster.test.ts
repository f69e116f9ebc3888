import { expect, test } from 'bun:test';
import { Admin } from '@platformatic/kafka';
import { readConfig } from '../../src/app/config.ts';
import { examine } from '../../src/app/doctor/doctor.ts';
import type { Finding } from '../../src/app/doctor/finding.ts';
import { kafkaBrokers, kafkaPlace } from '../support/kafka.ts';
import { record } from '../support/log/records.ts';
import { onPostgres, postgresPlace } from '../support/postgres.ts';

/** What the doctor reports about reachable and unreachable Redis, PostgreSQL and Kafka. */

const ADMIN = { TIDEMARK_ADMIN_TOKEN: 'administrator-of-this-test', TIDEMARK_PORT: '0' };
const THERE = {
	...ADMIN,
	TIDEMARK_REDIS_URL: process.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '',
	TIDEMARK_POSTGRES_URL: process.env.TIDEMARK_TEST_POSTGRES_URL ?? '',
	TIDEMARK_KAFKA_BROKERS: process.env.TIDEMARK_TEST_KAFKA_BROKERS ?? '',
	TIDEMARK_INSTALLATION: 'never_made',
};

async function findings(environment: Record<string, string>): Promise<Map<string, Finding>> {
	const found = await examine(readConfig({}, environment), environment, 10);
	return new Map(found.map((finding) => [finding.about, finding]));
}

test('doctor reports reachable services with their version, and creates nothing in them', async () => {
	for (let look = 0; look < 2; look += 1) {
		const found = await findings({ ...THERE, TIDEMARK_KAFKA_REPLICATION: '1' });
		expect(found.get('redis')).toMatchObject({
			state: 'ok',
			found: expect.stringMatching(/^\d+\.\d+.*Redis Cluster$/),
		});
		expect(found.get('postgresql')?.found).toEndWith('the schema never_made will be created');
		expect(found.get('kafka')?.found).toContain('never_made-users will be created');
		expect(found.get('log')?.state).toBe('ok');
		expect(found.get('clock')?.state).toBe('ok');
		expect(found.has('data directory')).toBeFalse();
	}
});

test('doctor reports topics that need more brokers than exist', async () => {
	expect((await findings({ ...THERE, TIDEMARK_KAFKA_REPLICATION: '99' })).get('kafka')).toMatchObject({
		state: 'bad',
		fix: expect.stringContaining('TIDEMARK_KAFKA_REPLICATION'),
	});
});

test('doctor reports unreachable services', async () => {
	const found = await findings({
		...ADMIN,
		TIDEMARK_REDIS_URL: 'redis://127.0.0.1:1',
		TIDEMARK_POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none',
		TIDEMARK_KAFKA_BROKERS: '127.0.0.1:1',
	});
	for (const about of ['redis', 'postgresql', 'kafka']) expect(found.get(about)?.state).toBe('bad');
	expect(found.has('log')).toBeFalse();
});

/** The current id of each topic. */
async function topicIds(topics: string[]): Promise<ReadonlyMap<string, string>> {
	const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafkaBrokers()] });
	const metadata = await admin.metadata({ topics, forceUpdate: true });
	await admin.close();
	return new Map(topics.map((topic) => [topic, metadata.topics.get(topic)?.id ?? '']));
}

test('doctor reports whether Kafka still has the log record that a worker reads next', async () => {
	const place = await postgresPlace();
	await (await place.open({ startStamp: null })).close();
	const kafka = kafkaPlace({ prefix: `${place.schema}-`, partitions: 2 });
	const logs = await kafka.open();
	for (const request of [0, 1, 2]) await logs.commands.append(record('C01', request));
	const environment = { ...THERE, TIDEMARK_INSTALLATION: place.schema };
	const log = async () => (await findings(environment)).get('log');
	expect(await log()).toMatchObject({
		state: 'ok',
		found: '4 partitions, none with missing log records; workers still have to read 3 log records',
	});
	// Stored offsets of a deleted topic with the same name, which fit the new one by chance.
	const conversations = `${place.schema}-conversations`;
	const of = (topicId: string) =>
		onPostgres(
			`INSERT INTO ${place.schema}.partition_progress (partition, next_offset, topic_id) VALUES ('${conversations}/0', 0, '${topicId}')
			ON CONFLICT (partition) DO UPDATE SET topic_id = excluded.topic_id`,
		);
	await of('00000000-0000-4000-8000-000000000000');
	expect(await log()).toMatchObject({
		state: 'bad',
		found: expect.stringContaining(`${conversations} was deleted and created again`),
		fix: expect.stringContaining(`DELETE FROM ${place.schema}.partition_progress`),
	});
	await of((await topicIds([conversations])).get(conversations) ?? '');
	expect((await log())?.state).toBe('ok');
	await onPostgres(`INSERT INTO ${place.schema}.partition_progress VALUES ('${place.schema}-users/1', 12)`);
	expect(await log()).toMatchObject({
		state: 'bad',
		found: expect.stringContaining(`${place.schema}-users/1 must be read from 12, but Kafka holds 0 to 0`),
		fix: expect.stringContaining(`DELETE FROM ${place.schema}.partition_progress`),
	});
	await kafka.close();
	await place.remove();
});
