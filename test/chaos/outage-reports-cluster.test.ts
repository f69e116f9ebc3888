import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { type Member, startCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** A service of a cluster is unavailable: what operators see, and how posts are answered. */

const WITHIN_MS = 30_000;
let services: OwnServices;
let cluster: TestCluster;
let ada: Person;
let channel: string;

beforeAll(async () => {
	services = await ownServices('redis', 'kafka');
	const redis = { TIDEMARK_TEST_REDIS_CLUSTER_URL: services.env.TIDEMARK_TEST_REDIS_URL };
	cluster = await startCluster({ workers: 1, services: { ...process.env, ...services.env, ...redis } });
	ada = (await makeWorkspace(cluster.url, 1)).people[0]!;
	channel = (await ada.call('conversations.create', { name: 'away' })).channel.id;
}, 300_000);
afterAll(async () => {
	await cluster?.stop();
	await services?.down();
}, 60_000);

/**
 * The services that a process reports as unavailable, in /readyz and as a metric. A gateway that cannot post is not
 * ready.
 */
async function reportOf({ url, role }: Member): Promise<{ ready: string[]; metric: string[] }> {
	const [ready, metrics] = await Promise.all([fetch(`${url}/readyz`), fetch(`${url}/metrics`)]);
	const { degraded } = (await ready.json()) as { degraded: string[] };
	expect(ready.status).toBe(role === 'gateway' && degraded.length > 0 ? 503 : 200);
	const of = (await metrics.text()).matchAll(/^tidemark_degraded\{dependency="([^"]+)"\} 1$/gm);
	return {
		ready: degraded.map((line) => /^(.+), since \d{4}-\S+Z: ./.exec(line)?.[1] ?? line).sort(),
		metric: [...of].map(([, dependency]) => dependency as string).sort(),
	};
}

const all = (): readonly Member[] => [...cluster.gateways, ...cluster.workers];
const post = ({ url }: Member, text: string) =>
	rawClient(url, ada.token)('chat.postMessage', { channel, text });

async function expectHealthy(): Promise<void> {
	await eventually(async () => {
		for (const member of all()) expect(await reportOf(member)).toEqual({ ready: [], metric: [] });
	}, WITHIN_MS);
}

/** Every gateway accepts posts again; posts that it rejected before do not exist. */
async function expectPostsAccepted(rejected: string): Promise<void> {
	for (const [number, gateway] of cluster.gateways.entries())
		await eventually(
			async () => expect(await post(gateway, `after ${rejected} ${number}`)).toMatchObject({ ok: true }),
			WITHIN_MS,
		);
	const { messages } = await eventually(() => ada.call('conversations.history', { channel }), WITHIN_MS);
	const texts = messages.map(({ text }: { text: string }) => text);
	expect(texts).toContain(`after ${rejected} 0`);
	expect(texts).not.toContain(rejected);
}

test('Kafka is killed: every process reports it, even if nobody posts, and rejects posts without sending them', async () => {
	for (const gateway of cluster.gateways) expect(await post(gateway, 'before')).toMatchObject({ ok: true });
	await expectHealthy();
	await services.stop('kafka', 'crash');
	await eventually(async () => {
		for (const member of all())
			expect(await reportOf(member)).toEqual({ ready: ['kafka'], metric: ['kafka'] });
	}, WITHIN_MS);
	for (const gateway of cluster.gateways)
		expect(await post(gateway, 'without Kafka')).toMatchObject({ error: 'service_unavailable' });
	await services.start('kafka');
	await expectHealthy();
	await expectPostsAccepted('without Kafka');
}, 300_000);

/** The error lines of a process that an outage may cause: about Redis, the read state, the publication record, missing answers. */
const MAX_ERROR_LINES = 4;

const errorLines = ({ err }: Member): string[] =>
	err()
		.split('\n')
		.filter((line) => line.includes('"level":50'));

/** Posts through every gateway until stopped, so that the service fails while requests are in flight. */
function load(): { readonly begun: Promise<void>; readonly stop: () => Promise<void> } {
	let isOver = false;
	const begun = Promise.withResolvers<void>();
	const posting = cluster.gateways.flatMap((gateway) =>
		Array.from({ length: 4 }, async (_, number) => {
			for (let count = 0; !isOver; count += 1)
				await post(gateway, `load ${number} ${count}`).then(
					() => begun.resolve(),
					() => undefined,
				);
		}),
	);
	const stop = async (): Promise<void> => {
		isOver = true;
		await Promise.all(posting);
	};
	return { begun: begun.promise, stop };
}

for (const how of ['down', 'hanging'] as const)
	test(`Redis is ${how}: gateways report it, and reject posts before they are sent; every process logs only a few errors`, async () => {
		const rejected = `without Redis, ${how}`;
		for (const gateway of cluster.gateways) expect(await post(gateway, 'before')).toMatchObject({ ok: true });
		await expectHealthy();
		const linesBefore = new Map(all().map((member) => [member, errorLines(member).length]));
		const posting = load();
		await posting.begun;
		if (how === 'down') await services.stop('redis', 'crash');
		else await services.pause('redis');
		try {
			await eventually(async () => {
				for (const gateway of cluster.gateways)
					expect(await reportOf(gateway)).toEqual({ ready: ['redis'], metric: ['redis'] });
			}, WITHIN_MS);
			for (const gateway of cluster.gateways) {
				// A post that was sent before the gateway noticed may wait for its answer, for up to 30 s.
				await eventually(
					async () => expect(await post(gateway, 'at first')).toMatchObject({ error: 'service_unavailable' }),
					2 * WITHIN_MS,
				);
				expect(await post(gateway, rejected)).toMatchObject({ error: 'service_unavailable' });
			}
		} finally {
			if (how === 'down') await services.start('redis');
			else services.wake('redis');
			await posting.stop();
		}
		await expectHealthy();
		await expectPostsAccepted(rejected);
		for (const member of all()) {
			const lines = errorLines(member).slice(linesBefore.get(member));
			expect(lines.filter((line) => line.includes('"stack"'))).toEqual([]);
			expect(lines.length).toBeLessThanOrEqual(MAX_ERROR_LINES);
		}
	}, 300_000);

test('no worker runs: gateways report it, even if nobody posts, until a worker starts', async () => {
	await expectHealthy();
	await cluster.end(cluster.workers[0] as Member, 'SIGTERM');
	await eventually(async () => {
		for (const gateway of cluster.gateways)
			expect(await reportOf(gateway)).toEqual({ ready: ['worker'], metric: ['worker'] });
	}, 2 * WITHIN_MS);
	const { degraded } = (await (await fetch(`${cluster.gateways[0]!.url}/readyz`)).json()) as {
		degraded: string[];
	};
	expect(degraded[0]).toContain('Start a worker (`tidemark worker`)');
	// Also while the gateway checks for unanswered requests.
	for (let look = 0; look < 12; look += 1) {
		for (const gateway of cluster.gateways)
			expect(await reportOf(gateway)).toEqual({ ready: ['worker'], metric: ['worker'] });
		await Bun.sleep(500);
	}
	await cluster.add('worker');
	await expectHealthy();
	await expectPostsAccepted('without a worker');
}, 180_000);
