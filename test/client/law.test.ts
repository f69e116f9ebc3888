import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TidemarkClient } from '../../client/src/index.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { Random } from '../support/oracle/random.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { untilInactive } from '../support/presence.ts';
import { startServer, type TestServer } from '../support/server.ts';

/**
 * After every step of a random history, the SDK's counts equal client.counts: for clients that stay connected, two of
 * them of the same user, and for one that disconnects and resumes at random.
 */

const SEEDS = [21, 22];
const OPERATIONS = 200;

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

interface Follower {
	readonly person: Person;
	readonly client: TidemarkClient;
}

for (const seed of SEEDS) {
	test(`history ${seed}: counts are exact after each of ${OPERATIONS} operations`, async () => {
		const workspace = await makeWorkspace(server.url, USER_COUNT, `SDK ${seed}`);
		const [first, second, third] = workspace.people as [Person, Person, Person];
		const follower = (person: Person): Follower => ({ person, client: sdk(server.url, person) });
		const roaming = follower(third);
		const followers = [follower(first), follower(first), follower(second), roaming];
		const oracle = new Oracle();
		let resyncs = 0;
		const connect = async ({ client, person }: Follower) => {
			await client.connect();
			const { position } = await person.call('client.counts');
			oracle.setActive(person.id, true, Number(position) + 1);
			client.subscribe(() => {
				if (client.getSnapshot().connection.status === 'waiting') resyncs += 1;
			});
		};
		for (const one of followers) await connect(one);
		const random = new Random(seed);
		let isAway = false;
		let checks = 0;
		await runHistory(
			{
				...httpDriver(workspace),
				settle: async () => {
					if (isAway ? random.chance(0.3) : random.chance(0.2)) {
						isAway = !isAway;
						if (!isAway) await connect(roaming);
						else {
							roaming.client.disconnect();
							oracle.setActive(third.id, false, await untilInactive(third));
						}
					}
					for (const one of followers) {
						if (one === roaming && isAway) continue;
						await expectExact(one.client, one.person);
						checks += 1;
					}
				},
			},
			oracle,
			randomHistory(seed, OPERATIONS, { presence: false }),
			{ users: workspace.people.map(({ id }) => id), check: 'every' },
		);
		expect(checks).toBeGreaterThan(OPERATIONS);
		expect(resyncs).toBe(0);
		for (const { client } of followers) client.disconnect();
	});
}
