import { afterAll, expect, test } from 'bun:test';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { tidemark } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';

/** A service accepts connections and never answers: the start names it, fails after a limit, and obeys SIGTERM. */

const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
const proxies: CuttingProxy[] = [];
afterAll(() => {
	silent.stop(true);
	for (const proxy of proxies) proxy.stop();
});

const {
	TIDEMARK_TEST_REDIS_CLUSTER_URL = '',
	TIDEMARK_TEST_POSTGRES_URL = '',
	TIDEMARK_TEST_KAFKA_BROKERS = '',
} = process.env;
const SILENT_ADDRESS = `127.0.0.1:${silent.port}`;

/** PostgreSQL accepts the login, and does not answer the first query. */
async function silentPostgres(): Promise<string> {
	const url = new URL(TIDEMARK_TEST_POSTGRES_URL);
	const proxy = await cuttingProxy(url.hostname, Number(url.port));
	proxies.push(proxy);
	proxy.cutNext('server_version_num', 'silence');
	url.port = String(proxy.port);
	return url.href;
}

/** Settings with which a start meets a hanging service. */
const HANGING = {
	Redis: async () => ({ TIDEMARK_REDIS_URL: `redis://${SILENT_ADDRESS}` }),
	PostgreSQL: async () => ({ TIDEMARK_POSTGRES_URL: await silentPostgres() }),
	Kafka: async () => ({ TIDEMARK_KAFKA_BROKERS: SILENT_ADDRESS }),
};
type Hanging = keyof typeof HANGING;

const begin = async (role: 'gateway' | 'worker', hanging: Hanging) =>
	tidemark([role, '--port', '0', '--host', '127.0.0.1', '--log-level', 'info'], {
		TIDEMARK_INSTALLATION: `hanging_${process.pid}`,
		TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN,
		TIDEMARK_KAFKA_REPLICATION: '1',
		TIDEMARK_REDIS_URL: TIDEMARK_TEST_REDIS_CLUSTER_URL,
		TIDEMARK_POSTGRES_URL: TIDEMARK_TEST_POSTGRES_URL,
		TIDEMARK_KAFKA_BROKERS: TIDEMARK_TEST_KAFKA_BROKERS,
		...(await HANGING[hanging]()),
	});

/** Waits until the log names the service that the start waits for. */
async function untilWaiting(starting: Awaited<ReturnType<typeof begin>>, hanging: Hanging): Promise<void> {
	const ended = starting.ended.then(({ err }) => Promise.reject(new Error(err)));
	while (!starting.err().includes('no answer yet')) await Promise.race([Bun.sleep(50), ended]);
	expect(starting.err()).toContain(`Waiting for ${hanging} at 127.0.0.1:`);
}

for (const hanging of Object.keys(HANGING) as Hanging[])
	test.concurrent(`${hanging} hangs: the start fails with an error that names it, or ends on SIGTERM`, async () => {
		await Promise.all([
			(async () => {
				const { code, err } = await (await begin('worker', hanging)).ended;
				expect(code).toBe(1);
				const setting = hanging === 'PostgreSQL' ? 'POSTGRES_URL' : hanging.toUpperCase();
				expect(err.trim().split('\n').at(-1)).toMatch(
					new RegExp(`^tidemark: ${hanging} .* s.*TIDEMARK_${setting}`),
				);
			})(),
			(async () => {
				const starting = await begin('gateway', hanging);
				await untilWaiting(starting, hanging);
				const { code, signal } = await starting.end('SIGTERM');
				expect({ code, signal }).toEqual({ code: 0, signal: null });
			})(),
		]);
	}, 120_000);
