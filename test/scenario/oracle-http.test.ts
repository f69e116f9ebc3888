import { afterAll, beforeAll, expect, test } from 'bun:test';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** The oracle against the server, over its public API. */

const SEEDS = [1, 2];
/** HISTORY_OPERATIONS=10000 for the long run. */
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 800);

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

for (const seed of SEEDS) {
	test(`random history ${seed}: ${OPERATIONS} operations, every count is as the model defines it`, async () => {
		const workspace = await makeWorkspace(server.url, USER_COUNT, `History ${seed}`);
		const report = await runHistory(httpDriver(workspace), new Oracle(), randomHistory(seed, OPERATIONS), {
			users: workspace.people.map(({ id }) => id),
			check: OPERATIONS / 20,
		});
		expect(report.performed.post ?? 0).toBeGreaterThan(OPERATIONS / 10);
		expect(report.compared.rows).toBeGreaterThan(0);
	});
}
