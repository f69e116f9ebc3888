import { expect, test } from 'bun:test';
import { readConfig } from '../../src/app/config.ts';
import { examine } from '../../src/app/doctor/doctor.ts';
import type { Finding } from '../../src/app/doctor/finding.ts';

/** What the doctor says of Redis, PostgreSQL and Kafka: there, and not there. */

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

test('services that answer are told with version and level, and nothing is made in them', async () => {
	for (let look = 0; look < 2; look += 1) {
		const found = await findings({ ...THERE, TIDEMARK_KAFKA_REPLICATION: '1' });
		expect(found.get('redis')).toMatchObject({
			state: 'ok',
			found: expect.stringMatching(/^\d+\.\d+.*Redis Cluster$/),
		});
		expect(found.get('postgresql')?.found).toEndWith('the schema never_made will be made');
		expect(found.get('kafka')?.found).toContain('never_made-users will be made');
		expect(found.get('clock')?.state).toBe('ok');
		expect(found.has('data directory')).toBeFalse();
	}
});

test('topics that would need more brokers than there are', async () => {
	expect((await findings({ ...THERE, TIDEMARK_KAFKA_REPLICATION: '99' })).get('kafka')).toMatchObject({
		state: 'bad',
		fix: expect.stringContaining('TIDEMARK_KAFKA_REPLICATION'),
	});
});

test('services that are not there', async () => {
	const found = await findings({
		...ADMIN,
		TIDEMARK_REDIS_URL: 'redis://127.0.0.1:1',
		TIDEMARK_POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none',
		TIDEMARK_KAFKA_BROKERS: '127.0.0.1:1',
	});
	for (const about of ['redis', 'postgresql', 'kafka']) expect(found.get(about)?.state).toBe('bad');
});
