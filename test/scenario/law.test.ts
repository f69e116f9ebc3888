import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { httpDriver } from '../support/http-driver.ts';
import type { LiveRow } from '../support/live/counts.ts';
import { Device } from '../support/live/device.ts';
import type { Driver } from '../support/oracle/driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { Random } from '../support/oracle/random.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { untilInactive } from '../support/presence.ts';
import { isOnCluster, patienceMs, startServer, type TestServer } from '../support/server.ts';

/**
 * The law: a stale snapshot plus the events since equals a fresh snapshot, after every operation, for devices that stay
 * connected and for devices that disconnect and resume at random.
 */

const SEEDS = [1, 2];
const OPERATIONS = isOnCluster() ? 120 : 200;

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

/** Other tests compare with the oracle; doing it here too would take most of the time on a cluster. */
function withoutQueries(driver: Driver): Driver {
	const { unreads: _, threads: __, explain: ___, members: ____, timeline: _____, ...rest } = driver;
	return rest;
}

const shown = ({ position: _, ...row }: LiveRow) => row;

const checkDevice = (device: Device, person: Person): Promise<void> =>
	eventually(() => checkNow(device, person), patienceMs());

async function checkNow(device: Device, person: Person): Promise<void> {
	await device.settle();
	const fresh = new Device(person.id, person.call);
	fresh.counts.snapshot(await person.call('client.counts'));
	const rows = (one: Device) =>
		Object.fromEntries([...one.counts.rows].sort().map(([id, row]) => [id, shown(row)]));
	expect(rows(device)).toEqual(rows(fresh));
	const { version: _kept, ...threads } = device.counts.threads;
	const { version: _fresh, ...freshThreads } = fresh.counts.threads;
	expect(freshThreads).toMatchObject(threads);
	expect(device.counts.badge).toBe(fresh.counts.badge);
}

for (const seed of SEEDS) {
	test(`history ${seed}: snapshot plus events equals a fresh snapshot after each of ${OPERATIONS} operations`, async () => {
		const workspace = await makeWorkspace(server.url, USER_COUNT, `Law ${seed}`);
		const [first, second, third] = workspace.people as [Person, Person, Person];
		const staying = [first, second].map((person) => ({ person, device: new Device(person.id, person.call) }));
		const roaming = { person: third, device: new Device(third.id, third.call) };
		const devices = [...staying, roaming];
		const oracle = new Oracle();
		const connect = async ({ device, person }: (typeof devices)[number]) => {
			await device.connect();
			oracle.setActive(person.id, true, Number(device.position) + 1);
		};
		for (const one of devices) await connect(one);
		const random = new Random(seed);
		let checks = 0;
		const driver = isOnCluster() ? withoutQueries(httpDriver(workspace)) : httpDriver(workspace);
		await runHistory(
			{
				...driver,
				settle: async () => {
					// Disconnected for some operations, then back: every missed event must arrive once.
					if (roaming.device.connected ? random.chance(0.2) : random.chance(0.3)) {
						if (!roaming.device.connected) await connect(roaming);
						else {
							roaming.device.disconnect();
							oracle.setActive(third.id, false, await untilInactive(third));
						}
					}
					for (const { device, person } of devices) {
						if (!device.connected) continue;
						await checkDevice(device, person);
						checks += 1;
					}
				},
			},
			oracle,
			randomHistory(seed, OPERATIONS, { presence: false }),
			{ users: workspace.people.map(({ id }) => id), check: 'every' },
		);
		expect(checks).toBeGreaterThan(OPERATIONS);
		expect(roaming.device.resyncs).toEqual([]);
		for (const { device } of devices) device.disconnect();
	});
}
