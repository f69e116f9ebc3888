import { expect, test } from 'bun:test';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace } from '../support/people.ts';
import { testServerProcess, withDirectory } from '../support/process.ts';

/** Random histories with a kill -9 in between: acknowledged changes count the same afterwards. */

const SEEDS = [1, 2];
/** HISTORY_OPERATIONS=10000 for the long run. */
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 480);
const KILL_EVERY = OPERATIONS / 6;

for (const seed of SEEDS) {
	test(`random history ${seed}: ${OPERATIONS} operations, killed every ${KILL_EVERY}, every count is as the model defines it`, async () => {
		await withDirectory(async (dataDir) => {
			let server = await testServerProcess(dataDir);
			const { port } = new URL(server.url);
			const workspace = await makeWorkspace(server.url, USER_COUNT);
			let kills = 0;
			const restarting = async () => {
				await server.end('SIGKILL');
				server = await testServerProcess(dataDir, ['--port', port]);
				kills += 1;
			};
			await runHistory(
				{ ...httpDriver(workspace), settle: restarting },
				new Oracle(),
				// Sockets end with the server, so nobody is active in these histories.
				randomHistory(seed, OPERATIONS, { presence: false }),
				{ users: workspace.people.map(({ id }) => id), check: KILL_EVERY },
			);
			expect(kills).toBeGreaterThanOrEqual(OPERATIONS / KILL_EVERY - 1);
			await server.end('SIGTERM');
		});
	});
}
