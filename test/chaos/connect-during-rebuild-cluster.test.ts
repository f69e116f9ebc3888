import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { emptyOneNode } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { TestSocket } from '../support/socket.ts';

/** No socket can be opened while the read state is rebuilt: rtm.connect asks clients to wait. */

const CLIENTS = 12;
/** How long the attempts of each client are observed. */
const WATCHED_MS = 5_000;

let services: OwnServices;
let cluster: TestCluster;
let people: readonly Person[];
let isOver = false;

beforeAll(async () => {
	services = await ownServices('redis');
	const redis = services.env.TIDEMARK_TEST_REDIS_URL;
	cluster = await startCluster({
		workers: 1,
		services: { ...process.env, TIDEMARK_TEST_REDIS_CLUSTER_URL: redis },
	});
	({ people } = await makeWorkspace(cluster.url, CLIENTS));
}, 300_000);
afterAll(async () => {
	isOver = true;
	await cluster?.stop();
	await services?.down();
}, 60_000);

const connectAt = (url: string, { token }: Person): Promise<Response> =>
	fetch(`${url}/api/rtm.connect`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });

/** Connects until a socket stays open, without a pause, as Slack's client does. Returns the open socket. */
async function connectUntilOpen(
	person: Person,
	tries: { sockets: number; waits: number },
): Promise<TestSocket> {
	while (!isOver) {
		const response = await connectAt(cluster.url, person);
		if (response.status === 503) {
			tries.waits += 1;
			await Bun.sleep(Number(response.headers.get('retry-after')) * 1000);
			continue;
		}
		tries.sockets += 1;
		const socket = new TestSocket(((await response.json()) as { url: string }).url);
		const first = await Promise.race([socket.seen({ type: 'hello' }), socket.closed]);
		if ('type' in first) return socket;
	}
	throw new Error('the test ended');
}

test('rtm.connect answers 503 with Retry-After at every gateway, clients wait between attempts, and all reconnect', async () => {
	const [worker] = cluster.workers;
	if (worker) await cluster.end(worker, 'SIGTERM');
	await emptyOneNode(services.env.TIDEMARK_TEST_REDIS_URL as string);
	const tries = { sockets: 0, waits: 0 };
	const connecting = people.map((person) => connectUntilOpen(person, tries));
	for (const one of connecting) one.catch(() => undefined);
	await Bun.sleep(WATCHED_MS);
	for (const { url } of cluster.gateways) {
		const response = await connectAt(url, people[0] as Person);
		expect(response.status).toBe(503);
		expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
		expect(await response.json()).toMatchObject({ ok: false, error: 'service_unavailable' });
	}
	// The gateway may detect the emptied Redis only with the first socket.
	expect(tries.sockets).toBeLessThanOrEqual(CLIENTS);
	expect(tries.waits).toBeGreaterThan(0);
	await cluster.add('worker');
	for (const socket of await Promise.all(connecting)) {
		await socket.settled();
		socket.close();
	}
}, 300_000);
