import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** `date_added` of a device is when it was first added, not when it changed or was added again. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

const seconds = (): number => Math.floor(Date.now() / 1000);

test('a device keeps the date on which its user first added it', async () => {
	const { people } = await makeWorkspace(server.url, 2);
	const [ada, bob] = people as [Person, Person];
	const device = { platform: 'apns', token: 'phone-of-ada' };
	const dateOf = async (who: Person): Promise<number> =>
		(await who.call('push.devices.list')).devices[0].date_added;
	// Nothing changes meanwhile.
	await Bun.sleep(2_100);
	const before = seconds();
	await ada.call('push.devices.add', device);
	const added = await dateOf(ada);
	expect(added).toBeGreaterThanOrEqual(before);
	expect(added).toBeLessThanOrEqual(seconds());
	await Bun.sleep(1_100);
	await ada.call('push.devices.add', { ...device, app: 'org.example.other' });
	expect(await dateOf(ada)).toBe(added);
	await bob.call('push.devices.add', device);
	expect(await dateOf(bob)).toBeGreaterThan(added);
});
