import { afterAll, beforeAll, expect, test } from 'bun:test';
import { reactSomewhere } from '../support/client/reacting.ts';
import { expectScreens } from '../support/client/screens.ts';
import { expectExact, sdk } from '../support/client/sdk.ts';
import { watchEverything } from '../support/client/shown.ts';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { Random } from '../support/oracle/random.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { untilInactive } from '../support/presence.ts';
import { startServer, type TestServer } from '../support/server.ts';

/**
 * The views after every step of random histories, while users react to messages: the messages of every conversation, the
 * followed threads, and each opened thread with its counts. Views are loaded once; events keep them up to date.
 */

const SEEDS = [41, 42];
const OPERATIONS = 120;

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

for (const seed of SEEDS) {
	test(`history ${seed}: the views are right after each of ${OPERATIONS} operations`, async () => {
		const workspace = await makeWorkspace(server.url, USER_COUNT, `Screens ${seed}`);
		const person = workspace.people[1] as Person;
		const client = sdk(server.url, person);
		const oracle = new Oracle();
		const random = new Random(seed);
		const connect = async () => {
			await client.connect();
			const { position } = await person.call('client.counts');
			oracle.setActive(person.id, true, Number(position) + 1);
		};
		await connect();
		const stop = watchEverything(client);
		let isAway = false;
		let checks = 0;
		let reactions = 0;
		await runHistory(
			{
				...httpDriver(workspace),
				settle: async () => {
					if (random.chance(isAway ? 0.4 : 0.1)) {
						isAway = !isAway;
						if (!isAway) await connect();
						else {
							client.disconnect();
							oracle.setActive(person.id, false, await untilInactive(person));
						}
					}
					if (await reactSomewhere(workspace, person, random)) reactions += 1;
					if (isAway) return;
					await expectExact(client, person);
					await expectScreens(client, person);
					checks += 1;
				},
			},
			oracle,
			randomHistory(seed, OPERATIONS, { presence: false }),
			{ users: workspace.people.map(({ id }) => id), check: 'every' },
		);
		expect(checks).toBeGreaterThan(OPERATIONS / 3);
		expect(reactions).toBeGreaterThan(OPERATIONS / 6);
		stop();
		client.disconnect();
	});
}
