import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { httpDriver } from '../support/http-driver.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { makeWorkspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Counts compared with the store, by the administrator. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server.stop());

test('after any history what is served is what the store says', async () => {
	const workspace = await makeWorkspace(server.url, USER_COUNT);
	const users = workspace.people.map(({ id }) => id);
	await runHistory(httpDriver(workspace), new Oracle(), randomHistory(7, 400), { users, check: 'end' });
	let checked = 0;
	for (const user of users) {
		const answer = await workspace.admin('admin.unreads.verify', { user });
		expect(answer.drifted).toEqual([]);
		checked += answer.checked;
	}
	expect(checked).toBeGreaterThan(users.length);
});

test('a row that was changed behind the server’s back is told', async () => {
	const { people, admin } = await makeWorkspace(server.url, 2, 'Drift');
	const [ada, grace] = people as [(typeof people)[number], (typeof people)[number]];
	const { channel } = await ada.call('conversations.create', { name: 'drift' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	for (const text of ['one', 'two']) await ada.call('chat.postMessage', { channel: channel.id, text });
	expect((await admin('admin.unreads.verify', { user: grace.id })).drifted).toEqual([]);
	const database = new Database(join(server.dataDir, 'tidemark.db'));
	database.run('DELETE FROM messages WHERE conversation = ? AND text = ?', [channel.id, 'one']);
	database.close();
	const { checked, drifted } = await admin('admin.unreads.verify', { user: grace.id, channel: channel.id });
	expect(checked).toBe(1);
	expect(drifted).toEqual([
		{
			user: grace.id,
			channel: channel.id,
			served: { unread_count: 2, mention_count: 0, badge_count: 0 },
			stored: { unread_count: 1, mention_count: 0, badge_count: 0 },
		},
	]);
	expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('tidemark_drifted_counts_total 1');
});
