import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Answer, client, rawClient } from '../support/api.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { ADMIN_TOKEN, startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** The channel that every person of a workspace is in from the start. */

let server: TestServer;
beforeAll(async () => {
	server = await startServer({});
});
afterAll(() => server.stop());

const admin = (method: string, args = {}): Promise<Answer> => client(server.url, ADMIN_TOKEN)(method, args);

async function add(team: string, name: string, fields = {}): Promise<Person> {
	const { user } = await admin('admin.users.create', { team_id: team, name, ...fields });
	const { token } = await admin('admin.tokens.create', { user_id: user.id });
	return { id: user.id, name, token, call: client(server.url, token) };
}

async function invited(team: string, realName: string): Promise<Person> {
	const { url } = await admin('admin.invites.create', { team_id: team });
	const invite = url.slice(url.indexOf('#invite=') + '#invite='.length);
	const { token, user_id } = await rawClient(server.url, '')('invites.accept', {
		invite,
		real_name: realName,
	});
	return { id: user_id, name: realName, token, call: client(server.url, token) };
}

const channelsOf = async ({ call }: Person): Promise<string[]> =>
	(await call('users.conversations')).channels.map(({ name }: { name: string }) => name);

test('added and invited people join it at once, bots do not, and nobody can leave it', async () => {
	const { team, general_channel: channel } = await admin('admin.teams.create', {
		name: 'Pier',
		general_channel: 'everybody',
	});
	const ada = await add(team.id, 'ada');
	expect(await channelsOf(ada)).toEqual(['everybody']);
	const { channel: general } = await ada.call('conversations.info', { channel });
	expect(general).toMatchObject({ is_general: true, is_member: true, creator: 'USLACKBOT' });

	const socket = await connect(ada);
	const grace = await invited(team.id, 'Grace Hopper');
	expect(await channelsOf(grace)).toEqual(['everybody']);
	await socket.seen({ type: 'member_joined_channel', channel, user: grace.id });
	await ada.call('chat.postMessage', { channel, text: 'welcome' });
	expect((await grace.call('conversations.info', { channel })).channel.unread_count).toBe(1);

	const bot = await add(team.id, 'helper', { is_bot: true });
	expect(await channelsOf(bot)).toEqual([]);

	const rejections = [
		['conversations.leave', {}, 'cant_leave_general'],
		['conversations.kick', { user: grace.id }, 'cant_kick_from_general'],
		['conversations.archive', {}, 'cant_archive_general'],
	] as const;
	for (const [method, args, error] of rejections) {
		const answer = await rawClient(server.url, ada.token)(method, { channel, ...args });
		expect(answer).toMatchObject({ ok: false, error });
	}
	const { members } = await ada.call('conversations.members', { channel });
	expect([...members].sort()).toEqual([ada.id, grace.id].sort());

	// The name is taken, and renaming the channel changes nothing else.
	await expect(ada.call('conversations.create', { name: 'everybody' })).rejects.toThrow('name_taken');
	await ada.call('conversations.rename', { channel, name: 'hall' });
	expect(await channelsOf(await invited(team.id, 'Late'))).toEqual(['hall']);
	socket.close();
});

test('in a workspace without a general channel nobody is added anywhere, and all channels are ordinary', async () => {
	const { people } = await makeWorkspace(server.url, 1);
	const [ada] = people as [Person];
	expect(await channelsOf(ada)).toEqual([]);
	const { channel } = await ada.call('conversations.create', { name: 'general' });
	expect(channel.is_general).toBe(false);
	expect(await ada.call('conversations.leave', { channel: channel.id })).toMatchObject({ ok: true });
});

test('an invalid channel name creates no workspace', async () => {
	const before = (await admin('admin.teams.list')).teams.length;
	const answer = await rawClient(server.url, ADMIN_TOKEN)('admin.teams.create', {
		name: 'Quay',
		general_channel: 'Not a name!',
	});
	expect(answer).toMatchObject({ ok: false, error: 'invalid_arguments' });
	expect((await admin('admin.teams.list')).teams.length).toBe(before);
});
