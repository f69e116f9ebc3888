import { afterAll, expect, test } from 'bun:test';
import { tidemark } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';

/** A service that accepts connections and never answers: a start says which one that is, ends by itself, and when it is told to. */

const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
afterAll(() => silent.stop(true));

const begin = (role: 'gateway' | 'worker', hanging: 'redis' | 'kafka') => {
	const { TIDEMARK_TEST_REDIS_URL, TIDEMARK_TEST_POSTGRES_URL, TIDEMARK_TEST_KAFKA_BROKERS } = process.env;
	const place = `127.0.0.1:${silent.port}`;
	return tidemark([role, '--port', '0', '--host', '127.0.0.1', '--log-level', 'info'], {
		TIDEMARK_INSTALLATION: `hanging_${process.pid}`,
		TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN,
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_REDIS_URL: hanging === 'redis' ? `redis://${place}` : (TIDEMARK_TEST_REDIS_URL ?? ''),
		TIDEMARK_POSTGRES_URL: TIDEMARK_TEST_POSTGRES_URL ?? '',
		TIDEMARK_KAFKA_BROKERS: hanging === 'kafka' ? place : (TIDEMARK_TEST_KAFKA_BROKERS ?? ''),
	});
};

/** The log says what it waits for. */
async function waits(starting: ReturnType<typeof begin>): Promise<void> {
	const ended = starting.ended.then(({ err }) => Promise.reject(new Error(err)));
	while (!starting.err().includes('has not answered yet')) await Promise.race([Bun.sleep(50), ended]);
	expect(starting.err()).toContain(`127.0.0.1:${silent.port}`);
}

test('the start fails with a line that names the service, or ends before when it is told to', async () => {
	await Promise.all(
		(['redis', 'kafka'] as const).flatMap((hanging) => [
			(async () => {
				const { code, err } = await begin('worker', hanging).ended;
				expect(code).toBe(1);
				expect(err.trim().split('\n').at(-1)).toMatch(
					new RegExp(`^tidemark: ${hanging}.*TIDEMARK_${hanging}_`, 'i'),
				);
			})(),
			(async () => {
				const starting = begin('gateway', hanging);
				await waits(starting);
				const { code, signal } = await starting.end('SIGTERM');
				expect({ code, signal }).toEqual({ code: 0, signal: null });
			})(),
		]),
	);
}, 300_000);
