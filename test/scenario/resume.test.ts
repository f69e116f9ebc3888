import { afterAll, beforeAll, expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { Random } from '../support/oracle/random.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { testServerProcess, withDirectory } from '../support/process.ts';
import { ResumingDevice } from '../support/resume/device.ts';
import { makeStage, perform } from '../support/resume/load.ts';
import { isOnCluster, patienceMs, startServer, type TestServer } from '../support/server.ts';

/**
 * A client that was disconnected gets exactly what it missed, once and in order: in the end it has the same state as a
 * client that stayed connected.
 */

const SEEDS = isOnCluster() ? [1, 2] : [1, 2, 3];
const OPERATIONS = isOnCluster() ? 250 : 500;

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

/** Disconnects and reconnects until the work is done. Returns how often it had missed something. */
async function roam(device: ResumingDevice, random: Random, work: Promise<void>): Promise<number> {
	let working = true;
	let caughtUp = 0;
	const done = work.finally(() => {
		working = false;
	});
	while (working) {
		await Bun.sleep(random.below(40));
		if (device.connected) device.cut();
		else if ((await device.connect()).missed > 0) caughtUp += 1;
	}
	await done;
	if (!device.connected) await device.connect();
	return caughtUp;
}

for (const seed of SEEDS) {
	test(`load ${seed}: clients that reconnect end with the same state as a client that stayed connected`, async () => {
		const random = new Random(seed);
		const workspace = await makeWorkspace(server.url, 5, `Resume ${seed}`);
		const stage = await makeStage(workspace);
		const [, watched] = workspace.people as [Person, Person];
		const staying = new ResumingDevice(watched.id, watched.call);
		const roaming = new ResumingDevice(watched.id, watched.call);
		await Promise.all([staying.connect(), roaming.connect()]);
		const caughtUp = await roam(roaming, random, perform(server.url, stage, random, OPERATIONS));
		await Promise.all([staying.settle(), roaming.settle()]);

		expect(caughtUp).toBeGreaterThan(1);
		expect(roaming.resyncs).toEqual([]);
		await eventually(async () => {
			expect(roaming.known.shown()).toEqual(staying.known.shown());
			const fresh = new ResumingDevice(watched.id, watched.call);
			fresh.known.counts.snapshot(await watched.call('client.counts'));
			expect(roaming.known.shown().rows).toEqual(fresh.known.shown().rows);
		}, patienceMs());
		staying.cut();
		roaming.cut();
	});
}

test('a client that reconnects during a flood receives every message once, in order', async () => {
	const { people } = await makeWorkspace(server.url, 11, 'Flood');
	const [listener, ...posters] = people as [Person, ...Person[]];
	const { channel } = await listener.call('conversations.create', { name: 'flood' });
	await listener.call('conversations.invite', { channel: channel.id, users: posters.map(({ id }) => id) });
	const device = new ResumingDevice(listener.id, listener.call);
	await device.connect();
	const flood = Promise.all(
		posters.map(async ({ call }, poster) => {
			for (let index = 0; index < 250; index += 1)
				await call('chat.postMessage', { channel: channel.id, text: `${poster} ${index}` });
		}),
	).then(() => undefined);
	expect(await roam(device, new Random(7), flood)).toBeGreaterThan(3);
	await device.settle();
	await eventually(
		async () => expect(device.known.conversations.get(channel.id)?.messages.size).toBe(2_500),
		patienceMs(),
	);
	device.cut();
});

test('clients resume after the server was stopped and started again', async () => {
	const own = await startServer();
	const random = new Random(11);
	const workspace = await makeWorkspace(own.url, 5);
	const stage = await makeStage(workspace);
	const [, watched] = workspace.people as [Person, Person];
	const [staying, away] = [1, 2].map(() => new ResumingDevice(watched.id, watched.call)) as [
		ResumingDevice,
		ResumingDevice,
	];
	await Promise.all([staying.connect(), away.connect()]);
	await perform(own.url, stage, random, 100);
	away.cut();
	await perform(own.url, stage, random, 100);
	await staying.settle();
	staying.cut();
	await own.restart();
	for (const device of [staying, away]) expect((await device.connect()).missed).toBeNumber();
	await perform(own.url, stage, random, 100);
	await Promise.all([staying.settle(), away.settle()]);
	await eventually(async () => expect(away.known.shown()).toEqual(staying.known.shown()), patienceMs());
	expect([...staying.resyncs, ...away.resyncs]).toEqual([]);
	staying.cut();
	away.cut();
	await own.stop();
});

// Other tests cover a cluster whose processes are killed.
const onOneMachine = isOnCluster() ? () => undefined : test;

onOneMachine('clients resume after the server was killed under load', async () => {
	await withDirectory(async (directory) => {
		let process = await testServerProcess(directory);
		const random = new Random(13);
		const workspace = await makeWorkspace(process.url, 5);
		const stage = await makeStage(workspace);
		const [, watched] = workspace.people as [Person, Person];
		const devices = [1, 2].map(() => new ResumingDevice(watched.id, watched.call));
		const [staying, away] = devices as [ResumingDevice, ResumingDevice];
		for (const device of devices) await device.connect();
		for (let round = 0; round < 3; round += 1) {
			const work = perform(process.url, stage, random, 300);
			await Bun.sleep(50);
			away.cut();
			await Bun.sleep(150);
			await process.end('SIGKILL');
			await work;
			staying.cut();
			process = await testServerProcess(directory);
			for (const device of devices) {
				device.call = client(process.url, watched.token);
				await device.connect();
				await device.settle();
			}
			expect(away.known.shown()).toEqual(staying.known.shown());
		}
		expect(devices.flatMap(({ resyncs }) => resyncs)).toEqual([]);
		for (const device of devices) device.cut();
		await process.end('SIGTERM');
	});
});
