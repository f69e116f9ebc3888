import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rawClient } from '../support/api.ts';
import { type Member, startCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** A service of a cluster is away: what whoever operates it sees, and what who posts is told. */

const TOLD_WITHIN_MS = 30_000;
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

/** What a process says is away: in /readyz, and as a metric. A gateway that cannot post is not ready. */
async function toldBy({ url, role }: Member): Promise<{ ready: string[]; metric: string[] }> {
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

async function isWell(): Promise<void> {
	await eventually(TOLD_WITHIN_MS, async () => {
		for (const member of all()) expect(await toldBy(member)).toEqual({ ready: [], metric: [] });
	});
}

/** Every gateway takes posts again; what was refused before is not there. */
async function goesOn(refused: string): Promise<void> {
	for (const [number, gateway] of cluster.gateways.entries())
		await eventually(TOLD_WITHIN_MS, async () =>
			expect(await post(gateway, `after ${refused} ${number}`)).toMatchObject({ ok: true }),
		);
	const { messages } = await eventually(TOLD_WITHIN_MS, () => ada.call('conversations.history', { channel }));
	const texts = messages.map(({ text }: { text: string }) => text);
	expect(texts).toContain(`after ${refused} 0`);
	expect(texts).not.toContain(refused);
}

test('Kafka: every process names it, also where nobody posts; posts are refused, and nothing of them was sent', async () => {
	for (const gateway of cluster.gateways) expect(await post(gateway, 'before')).toMatchObject({ ok: true });
	await isWell();
	await services.stop('kafka', 'crash');
	await eventually(TOLD_WITHIN_MS, async () => {
		for (const member of all()) expect(await toldBy(member)).toEqual({ ready: ['kafka'], metric: ['kafka'] });
	});
	for (const gateway of cluster.gateways)
		expect(await post(gateway, 'without Kafka')).toMatchObject({ error: 'service_unavailable' });
	await services.start('kafka');
	await isWell();
	await goesOn('without Kafka');
}, 300_000);

/** Of one restarted node: Redis, the read state, what was being recorded, no answers. */
const MOST_CAUSES = 4;

const errorLines = ({ err }: Member): string[] =>
	err()
		.split('\n')
		.filter((line) => line.includes('"level":50'));

/** Posts by every gateway, one after the other, until it is stopped: work that a service is in the middle of when it ends. */
function load(): () => Promise<void> {
	let isOver = false;
	const posting = cluster.gateways.flatMap((gateway) =>
		Array.from({ length: 4 }, async (_, number) => {
			for (let count = 0; !isOver; count += 1)
				await post(gateway, `load ${number} ${count}`).catch(() => undefined);
		}),
	);
	return async () => {
		isOver = true;
		await Promise.all(posting);
	};
}

for (const how of ['gone', 'hanging'] as const)
	test(`Redis, ${how}: gateways name it and no worker, and refuse posts before they are sent`, async () => {
		const refused = `without Redis, ${how}`;
		for (const gateway of cluster.gateways) expect(await post(gateway, 'before')).toMatchObject({ ok: true });
		await isWell();
		const linesBefore = new Map(all().map((member) => [member, errorLines(member).length]));
		const stopLoad = load();
		await Bun.sleep(500);
		if (how === 'gone') await services.stop('redis', 'crash');
		else services.pause('redis');
		try {
			await eventually(TOLD_WITHIN_MS, async () => {
				for (const gateway of cluster.gateways)
					expect(await toldBy(gateway)).toEqual({ ready: ['redis'], metric: ['redis'] });
			});
			for (const gateway of cluster.gateways) {
				// What was sent before it was known may be waited for, which takes 30 s.
				await eventually(2 * TOLD_WITHIN_MS, async () =>
					expect(await post(gateway, 'at first')).toMatchObject({ error: 'service_unavailable' }),
				);
				expect(await post(gateway, refused)).toMatchObject({ error: 'service_unavailable' });
			}
		} finally {
			if (how === 'gone') await services.start('redis');
			else services.wake('redis');
			await stopLoad();
		}
		await isWell();
		await goesOn(refused);
		for (const member of all()) {
			const lines = errorLines(member).slice(linesBefore.get(member));
			expect(lines.filter((line) => line.includes('"stack"'))).toEqual([]);
			expect(lines.length).toBeLessThanOrEqual(MOST_CAUSES);
		}
	}, 300_000);

test('no worker: gateways name it though nobody posts, and go on naming it until there is one', async () => {
	await isWell();
	await cluster.end(cluster.workers[0] as Member, 'SIGTERM');
	await eventually(2 * TOLD_WITHIN_MS, async () => {
		for (const gateway of cluster.gateways)
			expect(await toldBy(gateway)).toEqual({ ready: ['worker'], metric: ['worker'] });
	});
	const { degraded } = (await (await fetch(`${cluster.gateways[0]!.url}/readyz`)).json()) as {
		degraded: string[];
	};
	expect(degraded[0]).toContain('Start one (`tidemark worker`)');
	// Also over the moments in which requests are looked through.
	for (let look = 0; look < 12; look += 1) {
		for (const gateway of cluster.gateways)
			expect(await toldBy(gateway)).toEqual({ ready: ['worker'], metric: ['worker'] });
		await Bun.sleep(500);
	}
	await cluster.add('worker');
	await isWell();
	await goesOn('without a worker');
}, 180_000);
