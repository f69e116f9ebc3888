import { expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { startServer } from '../support/server.ts';
import { connect, type Frame } from '../support/socket.ts';

/** A client that is too far behind always gets a resync; any other client gets every event, however slowly it reads. */

async function scene(flags: Readonly<Record<string, string>>) {
	const server = await startServer(flags);
	const [ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
	const { channel } = await ada.call('conversations.create', { name: 'scene' });
	await ada.call('conversations.invite', { channel: channel.id, users: grace.id });
	const { position: since } = await grace.call('client.counts');
	const post = async (text: string): Promise<string> =>
		(await ada.call('chat.postMessage', { channel: channel.id, text })).ts;
	return { server, ada, grace, channel: channel.id as string, since: since as string, post };
}

/** Messages of 20,000 characters: more than a socket's buffer holds, and less than too far behind. */
const BACKLOG = 190;

const isMessage = ({ type }: Frame): boolean => type === 'message';

test('one change more than the limit is too far behind, over client.sync and over a socket; live events continue', async () => {
	const { server, grace, since, channel, post } = await scene({ 'resume-changes': '5' });
	const posted: string[] = [];
	for (let index = 0; index < 4; index += 1) posted.push(await post(`${index}`));
	await grace.call('conversations.mark', { channel, ts: posted[0] });
	expect((await grace.call('client.sync', { since })).events).toHaveLength(5);
	await post('one more');
	const answer = await grace.call('client.sync', { since });
	expect(answer).toMatchObject({ history_invalid: true });
	expect(answer.position > since).toBe(true);

	const socket = await connect(grace, { since });
	await socket.seen({ type: 'resync', reason: 'too_far_behind' });
	const ts = await post('live');
	await socket.seen({ ts });
	expect(socket.having(isMessage)).toHaveLength(1);
	expect(socket.frames[0]?.position >= answer.position).toBe(true);
	socket.close();
	// From the position in the answer, the client is only one change behind.
	const { events } = await grace.call('client.sync', { since: answer.position });
	expect(events.map((event: Frame) => event.ts)).toEqual([ts]);
	await server.stop();
});

test('edits, marks and follows count against the limit too', async () => {
	const { server, ada, grace, channel, post } = await scene({ 'resume-changes': '2' });
	const posted = [await post('a'), await post('b'), await post('c')];
	const { position: since } = await grace.call('client.counts');
	const tooFar = async () => (await grace.call('client.sync', { since })).history_invalid ?? false;
	for (const ts of posted.slice(0, 2)) await ada.call('chat.update', { channel, ts, text: 'edited' });
	expect(await tooFar()).toBe(false);
	await grace.call('conversations.mute', { channel });
	expect(await tooFar()).toBe(true);
	await server.stop();
});

test('more events than the socket’s buffer holds arrive completely, followed by live events', async () => {
	const { server, grace, since, post } = await scene({ 'socket-buffer-kb': '16' });
	const text = 'x'.repeat(20_000);
	const posted: string[] = [];
	for (let index = 0; index < BACKLOG; index += 1) posted.push(await post(`${index} ${text}`));
	// Somebody keeps posting while the client catches up.
	let isConnected = false;
	const connecting = connect(grace, { since }).finally(() => {
		isConnected = true;
	});
	const several = async () => {
		posted.push(...(await Promise.all(Array.from({ length: 8 }, () => post('meanwhile')))));
	};
	do await several();
	while (!isConnected);
	const socket = await connecting;
	while (socket.having(isMessage).length < BACKLOG) await several();
	for (let index = 0; index < 20; index += 1) posted.push(await post('afterwards'));
	posted.sort();
	const received = await socket.all(posted.length, isMessage);
	expect(received.map(({ ts }) => ts)).toEqual(posted);
	expect(received.map(({ prev_ts }) => prev_ts).slice(1)).toEqual(posted.slice(0, -1));
	await socket.settled();
	expect(socket.having(isMessage)).toHaveLength(posted.length);
	const [hello] = socket.frames;
	expect([hello?.type, hello?.position]).toEqual(['hello', since]);
	expect(hello?.missed).toBeGreaterThanOrEqual(BACKLOG);
	socket.close();
	await server.stop();
});
