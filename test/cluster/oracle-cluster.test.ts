import { beforeAll, expect, test } from 'bun:test';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import type { TestCluster } from '../support/cluster.ts';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { connectBoth, loseMessage } from '../support/redis.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

/** The oracle against 2 gateways and 2 workers, with users at both gateways. */

const SEEDS = [1, 2];
/** HISTORY_OPERATIONS=10000 for the long run. */
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 400);

let cluster: TestCluster;
beforeAll(async () => {
	cluster = await sharedCluster();
}, 300_000);

for (const seed of SEEDS) {
	test(`random history ${seed}: ${OPERATIONS} operations, every count is as the model defines it`, async () => {
		const workspace = await makeWorkspace(cluster.url, USER_COUNT, `History ${seed}`);
		const report = await runHistory(httpDriver(workspace), new Oracle(), randomHistory(seed, OPERATIONS), {
			users: workspace.people.map(({ id }) => id),
			check: Math.ceil(OPERATIONS / 20),
		});
		expect(report.performed.post ?? 0).toBeGreaterThan(OPERATIONS / 10);
		expect(report.compared.rows).toBeGreaterThan(0);
	});
}

test('a conversation that lost a message in Redis is reported and repaired under load, and loses nothing else', async () => {
	const { people, admin } = await makeWorkspace(cluster.url, 3, 'Repair');
	const [ada, grace, linus] = people as [Person, Person, Person];
	const { channel } = await ada.call('conversations.create', { name: 'repair' });
	await ada.call('conversations.invite', { channel: channel.id, users: `${grace.id},${linus.id}` });
	const post = async (text: string) => (await ada.call('chat.postMessage', { channel: channel.id, text })).ts;
	for (let index = 0; index < 5; index += 1) await post(`before ${index}`);
	const lost = Math.round(Number(await post('lost')) * 1e6);
	const row = async (person: Person) =>
		(await person.call('client.counts')).channels.find(({ id }: { id: string }) => id === channel.id);
	expect(await row(grace)).toMatchObject({ unread_count: 6 });

	const prefix = `${cluster.installation}:`;
	const url = process.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';
	const { commands, close } = await connectBoth({ url, cluster: true, prefix });
	const keys = new Keys(prefix);
	await loseMessage(commands, keys, channel.id, lost);
	close();
	expect(await row(grace)).toMatchObject({ unread_count: 5 });

	let isOver = false;
	const posting = (async () => {
		const sent: string[] = [];
		while (!isOver) {
			sent.push(await post(`meanwhile ${sent.length}`));
			await linus.call('conversations.mark', { channel: channel.id, ts: sent.at(-1) });
			await Bun.sleep(300);
		}
		return sent;
	})();
	// If posts interrupt every verification, the answer is empty: then the test asks again.
	let repaired: Awaited<ReturnType<typeof admin>>;
	do repaired = await admin('admin.unreads.verify', { user: grace.id, repair: true });
	while (repaired.drifted.length === 0);
	isOver = true;
	const sent = await posting;
	expect(repaired).toMatchObject({ repaired: 1, drifted: [{ channel: channel.id, repaired: true }] });
	expect(sent.length).toBeGreaterThan(0);
	expect(await row(grace)).toMatchObject({ unread_count: 6 + sent.length });
	expect(await row(linus)).toMatchObject({ unread_count: 0, last_read: sent.at(-1) });
});
