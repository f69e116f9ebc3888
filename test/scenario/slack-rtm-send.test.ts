import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** sendMessage of Slack's official RTMClient, in a process of its own. */

const SENDER = join(import.meta.dir, '..', 'support', 'rtm-sender.ts');

let server: TestServer;
let ada: Person;
let grace: Person;

beforeAll(async () => {
	server = await startServer();
	[ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
});
afterAll(() => server.stop());

async function send(person: Person, ...sends: readonly string[]) {
	const child = Bun.spawn([process.execPath, SENDER, server.url, person.token, ...sends], { stderr: 'pipe' });
	const [out, err, code] = await Promise.all([
		new Response(child.stdout).text(),
		new Response(child.stderr).text(),
		child.exited,
	]);
	expect([code, err]).toEqual([0, '']);
	return out
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
}

test('sends are acknowledged with their ts, in order, and errors name their cause', async () => {
	const { channel } = await ada.call('conversations.create', { name: 'sent' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	const listener = await connect(grace);
	const outcomes = await send(ada, channel.id, 'one', 'C0000000000', 'lost', channel.id, 'two');
	expect(outcomes[1]).toMatchObject({ data: { ok: false, error: { code: 2, msg: 'channel_not_found' } } });
	expect(outcomes[0]).toMatchObject({ ok: true, text: 'one' });
	expect(outcomes[2]).toMatchObject({ ok: true, text: 'two' });
	const received = await listener.all(2, { type: 'message', channel: channel.id });
	expect(received.map(({ ts, text }) => [ts, text])).toEqual([
		[outcomes[0].ts, 'one'],
		[outcomes[2].ts, 'two'],
	]);
	expect(received[1]?.prev_ts).toBe(outcomes[0].ts);
	listener.close();
});
