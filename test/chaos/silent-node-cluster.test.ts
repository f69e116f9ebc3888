import { afterAll, beforeAll, expect, test } from 'bun:test';
import { noRepeats, patientCall } from '../support/chaos/patient-call.ts';
import { Watcher } from '../support/chaos/watcher.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { announcePort } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** The network between gateways and one node of Redis loses all packets, and no connection is closed. */

const NAME = 'TIDEMARK_TEST_REDIS_CLUSTER_URL';
let services: OwnServices;
let proxy: CuttingProxy;
let cluster: TestCluster;

beforeAll(async () => {
	services = await ownServices('redis-cluster');
	const url = services.env[NAME] ?? '';
	proxy = await cuttingProxy('127.0.0.1', Number(new URL(url).port));
	await announcePort(url, proxy.port);
	const env = { ...process.env, [NAME]: `redis://127.0.0.1:${proxy.port}` };
	cluster = await startCluster({ services: env, workers: 1 });
}, 300_000);
afterAll(async () => {
	await cluster?.stop();
	proxy?.stop();
	await services?.down();
}, 60_000);

test('connected clients get every message, over the silent node and over the others', async () => {
	const { people } = await makeWorkspace(cluster.url, 3);
	const [author, ...readers] = people as [Person, ...Person[]];
	const channels: string[] = [];
	// Some conversations on every node.
	for (const name of Array.from({ length: 12 }, (_, index) => `channel-${index}`)) {
		const { channel } = await author.call('conversations.create', { name });
		await author.call('conversations.invite', {
			channel: channel.id,
			users: readers.map(({ id }) => id),
		});
		channels.push(channel.id);
	}
	const watchers = readers.map((reader) => new Watcher(cluster.url, reader, channels));
	await Promise.all(watchers.map((watcher) => watcher.ready));
	let posts = 0;
	// An outcome may also travel over the silent node: rejected and unanswered posts are sent again.
	const patiently = patientCall(cluster.url, author, noRepeats());
	const post = (channel: string, number: number) =>
		patiently('chat.postMessage', { channel, text: `number ${number}`, client_msg_id: `n${number}` });
	const postEverywhere = async (): Promise<void> => {
		for (const channel of channels) {
			posts += 1;
			await post(channel, posts);
		}
	};
	await postEverywhere();
	expect(proxy.silence('ssubscribe')).toBeGreaterThan(0);
	// Meanwhile, clients get newer and newer positions over the other nodes.
	for (const end = performance.now() + 8_000; performance.now() < end; ) {
		await postEverywhere();
		await Bun.sleep(200);
	}
	const missed = async () => (await Promise.all(watchers.map((one) => one.differences()))).flat();
	await eventually(async () => expect(await missed()).toEqual([]), 20_000);
	for (const watcher of watchers) await watcher.stop();
	console.log(`${posts} posts, 0 missed live; reconnects: ${watchers.map((one) => one.reconnects)}`);
}, 300_000);
