import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Scheduled messages: listed, deleted, and posted once at their time, also after a restart. */

const POSTED_WITHIN_MS = 30_000;

let server: TestServer;
let workspace: Workspace;
let ada: Person;
let grace: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 2, 'Scheduled');
	[ada, grace] = workspace.people as [Person, Person];
	channel = (await ada.call('conversations.create', { name: 'later', is_private: true })).channel.id;
});
afterAll(() => server.stop());

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
const schedule = (text: string, postAt: number, more = {}) =>
	ada.call('chat.scheduleMessage', { channel, text, post_at: postAt, ...more });
const listed = async (person = ada, more = {}) =>
	(await person.call('chat.scheduledMessages.list', more)).scheduled_messages;
const texts = async (): Promise<string[]> =>
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	(await ada.call('conversations.history', { channel })).messages.map(({ text }: any) => text).reverse();

test('errors are Slack’s', async () => {
	await expect(schedule('x', inSeconds(-5))).rejects.toThrow('time_in_past');
	await expect(schedule('x', inSeconds(130 * 86_400))).rejects.toThrow('time_too_far');
	for (const post_at of ['soon', { toString: false }])
		await expect(ada.call('chat.scheduleMessage', { channel, text: 'x', post_at })).rejects.toThrow(
			'invalid_time',
		);
	await expect(schedule('', inSeconds(100))).rejects.toThrow('no_text');
	await expect(
		grace.call('chat.scheduleMessage', { channel, text: 'x', post_at: inSeconds(100) }),
	).rejects.toThrow('channel_not_found');
	const id = 'Q0000000000';
	await expect(
		ada.call('chat.deleteScheduledMessage', { channel, scheduled_message_id: id }),
	).rejects.toThrow('invalid_scheduled_message_id');
});

test('a user’s own scheduled messages are listed by time, page by page, and can be deleted', async () => {
	const at = inSeconds(86_400);
	const ids: string[] = [];
	for (const offset of [2, 0, 1])
		ids[offset] = (await schedule(`later ${offset}`, at + offset)).scheduled_message_id;
	const page = await ada.call('chat.scheduledMessages.list', { channel, limit: 2 });
	expect(page.scheduled_messages).toMatchObject([
		{ id: ids[0], channel_id: channel, post_at: at, text: 'later 0' },
		{ id: ids[1] },
	]);
	const { next_cursor: cursor } = page.response_metadata;
	expect(await listed(ada, { channel, limit: 2, cursor })).toMatchObject([{ id: ids[2] }]);
	expect(await listed(ada, { oldest: at + 1, latest: at + 1 })).toMatchObject([{ id: ids[1] }]);
	expect(await listed(grace)).toEqual([]);
	await expect(
		grace.call('chat.deleteScheduledMessage', { channel, scheduled_message_id: ids[0] }),
	).rejects.toThrow('invalid_scheduled_message_id');
	for (const id of ids) await ada.call('chat.deleteScheduledMessage', { channel, scheduled_message_id: id });
	expect(await listed()).toEqual([]);
});

test('a message is posted once at its time, with a restart in between', async () => {
	const before = await texts();
	const at = inSeconds(3);
	await schedule('first', at);
	await schedule('second', at + 1, { blocks: [{ type: 'divider' }] });
	expect(await texts()).toEqual(before);
	await server.restart();
	await eventually(
		async () => expect(await texts()).toEqual([...before, 'first', 'second']),
		POSTED_WITHIN_MS,
	);
	expect(Date.now() / 1000).toBeGreaterThanOrEqual(at);
	const [newest] = (await ada.call('conversations.history', { channel, limit: 1 })).messages;
	expect(newest).toMatchObject({ user: ada.id, blocks: [{ type: 'divider' }] });
	await eventually(async () => expect(await listed()).toEqual([]), POSTED_WITHIN_MS);
	// Another check for due messages, by any gateway, posts nothing again.
	await Bun.sleep(1500);
	expect(await texts()).toEqual([...before, 'first', 'second']);
});

test('a message that can no longer be posted is dropped, and so are those of a deactivated user', async () => {
	const place = (await grace.call('conversations.create', { name: 'left-soon' })).channel.id;
	// Late enough that the channel is archived before, even on a busy machine.
	const args = { channel: place, text: 'never', post_at: inSeconds(8) };
	await grace.call('chat.scheduleMessage', args);
	await grace.call('conversations.archive', { channel: place });
	await eventually(async () => expect(await listed(grace)).toEqual([]), POSTED_WITHIN_MS);
	await grace.call('conversations.unarchive', { channel: place });
	// Another check for due messages, by any gateway, does not post it either.
	await Bun.sleep(2_000);
	expect((await grace.call('conversations.history', { channel: place })).messages).toEqual([]);
	await grace.call('chat.scheduleMessage', { ...args, post_at: inSeconds(1000) });
	await workspace.admin('admin.users.deactivate', { user_id: grace.id });
	await workspace.admin('admin.users.reactivate', { user_id: grace.id });
	const { token } = await workspace.admin('admin.tokens.create', { user_id: grace.id });
	const answer = await fetch(`${server.url}/api/chat.scheduledMessages.list?token=${token}`);
	expect(await answer.json()).toMatchObject({ ok: true, scheduled_messages: [] });
});

test('a direct message that chat.postMessage rejects is rejected at once, or dropped at its time', async () => {
	const { id } = (await workspace.admin('admin.users.create', { team_id: workspace.team, name: 'leaver' }))
		.user;
	const direct = (await ada.call('conversations.open', { users: id })).channel.id;
	const { channels } = await ada.call('conversations.list', { types: 'im' });
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
	const slackbot = channels.find(({ user }: any) => user === 'USLACKBOT').id;
	await schedule('never', inSeconds(6), { channel: direct });
	await workspace.admin('admin.users.deactivate', { user_id: id });
	for (const [place, error] of [
		[direct, 'user_disabled'],
		[slackbot, 'channel_not_found'],
	]) {
		await expect(ada.call('chat.postMessage', { channel: place, text: 'x' })).rejects.toThrow(error);
		await expect(schedule('x', inSeconds(100), { channel: place })).rejects.toThrow(error);
	}
	expect(await listed()).toMatchObject([{ channel_id: direct }]);
	await eventually(async () => expect(await listed()).toEqual([]), POSTED_WITHIN_MS);
	expect((await ada.call('conversations.history', { channel: direct })).messages).toEqual([]);
});
