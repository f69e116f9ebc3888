import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { client, rawClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person, type Workspace } from '../support/people.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Formats that applications written for Slack depend on. Each is here because such an application failed without it. */

let server: TestServer;
let workspace: Workspace;
let ada: Person;
let grace: Person;
let bot: Person;
let channel: string;

beforeAll(async () => {
	server = await startServer();
	workspace = await makeWorkspace(server.url, 3);
	[ada, grace] = workspace.people as [Person, Person];
	const { admin, team } = workspace;
	const { user } = await admin('admin.users.create', { team_id: team, name: 'alerts', is_bot: true });
	const { token } = await admin('admin.tokens.create', { user_id: user.id });
	bot = { id: user.id, name: 'alerts', token, call: client(server.url, token) };
	({
		channel: { id: channel },
	} = await ada.call('conversations.create', { name: 'quay' }));
	await ada.call('conversations.invite', { channel, users: `${grace.id},${bot.id}` });
});
afterAll(() => server.stop());

const rejectionOf = async (person: Person, method: string, args: Record<string, unknown>) =>
	(await rawClient(server.url, person.token)(method, args)).error;

const newest = async (args: Record<string, unknown> = {}) =>
	(await ada.call('conversations.history', { channel, limit: 1, ...args })).messages[0];

describe('conversation objects', () => {
	test('`latest` is a message in direct messages, and absent elsewhere; its ts is `latest_ts`', async () => {
		const { ts } = await ada.call('chat.postMessage', { channel, text: 'newest' });
		const { channel: shown } = await grace.call('conversations.info', { channel });
		expect(shown).toMatchObject({ latest_ts: ts });
		expect(shown).not.toHaveProperty('latest');
		const { channels } = await grace.call('users.conversations', { types: 'public_channel,im' });
		for (const one of channels) expect(one).not.toHaveProperty('latest');
		const direct = (await ada.call('conversations.open', { users: grace.id, return_im: true })).channel;
		expect(direct.latest).toBeNull();
		const said = await ada.call('chat.postMessage', { channel: direct.id, text: 'hello' });
		const after = (await ada.call('conversations.info', { channel: direct.id })).channel;
		expect(after).toMatchObject({ latest: { ts: said.ts, text: 'hello' }, latest_ts: said.ts });
	});

	test('channel_joined has latest_ts, and no latest', async () => {
		const socket = await connect(grace);
		const created = (await ada.call('conversations.create', { name: 'joined' })).channel.id;
		const { ts } = await ada.call('chat.postMessage', { channel: created, text: 'before' });
		await ada.call('conversations.invite', { channel: created, users: grace.id });
		const joined = await socket.seen(
			(frame) => frame.type === 'channel_joined' && frame.channel.id === created,
		);
		expect(joined.channel).toMatchObject({ latest_ts: ts });
		expect(joined.channel).not.toHaveProperty('latest');
		socket.close();
	});

	test('group messages are named as in Slack; closing one is accepted', async () => {
		const third = workspace.people[2] as Person;
		const users = `${third.id},${grace.id}`;
		const { channel: group } = await ada.call('conversations.open', { users, return_im: true });
		expect(group).toMatchObject({ name: 'mpdm-person-0--person-1--person-2-1', is_mpim: true });
		expect(await ada.call('conversations.close', { channel: group.id })).toMatchObject({ no_op: true });
		expect(await rejectionOf(ada, 'conversations.close', { channel })).toBe(
			'method_not_supported_for_channel_type',
		);
	});
});

describe('where a message goes', () => {
	test('#name, name, a user id and @name are accepted', async () => {
		for (const target of ['#quay', 'quay', channel])
			expect((await ada.call('chat.postMessage', { channel: target, text: target })).channel).toBe(channel);
		const byId = await bot.call('chat.postMessage', { channel: grace.id, text: 'to you' });
		expect(byId.channel).toStartWith('D');
		const byName = await bot.call('chat.postMessage', { channel: '@person-1', text: 'again' });
		expect(byName.channel).toBe(byId.channel);
		const { messages } = await grace.call('conversations.history', { channel: byId.channel });
		expect(messages.map(({ text }: { text: string }) => text)).toEqual(['again', 'to you']);
	});

	test('a target that does not exist is rejected, however it is addressed', async () => {
		const { id: secret } = (await grace.call('conversations.create', { name: 'secret', is_private: true }))
			.channel;
		const text = 'alarm';
		for (const target of ['#nowhere', 'nowhere', '#', '@nobody', 'U00NOBODY', 'USLACKBOT', '#secret', secret])
			expect([target, await rejectionOf(ada, 'chat.postMessage', { channel: target, text })]).toEqual([
				target,
				'channel_not_found',
			]);
		await ada.call('conversations.create', { name: 'elsewhere' });
		expect(await rejectionOf(bot, 'chat.postMessage', { channel: '#elsewhere', text })).toBe(
			'not_in_channel',
		);
		const { user } = await workspace.admin('admin.users.create', { team_id: workspace.team, name: 'gone' });
		await workspace.admin('admin.users.deactivate', { user_id: user.id });
		expect(await rejectionOf(ada, 'chat.postMessage', { channel: user.id, text })).toBe('user_disabled');
		// A tool that posts to an invalid target must not get a success.
		for (const path of ['/', '/services/T0/B0/x', '/api'])
			expect((await fetch(server.url + path, { method: 'POST', body: '{}' })).status).toBe(404);
	});

	test('names of other workspaces are unknown', async () => {
		const other = await makeWorkspace(server.url, 1, 'Others');
		const stranger = other.people[0] as Person;
		expect(await rejectionOf(stranger, 'chat.postMessage', { channel: '#quay', text: 'x' })).toBe(
			'channel_not_found',
		);
		expect(await rejectionOf(stranger, 'chat.postMessage', { channel: ada.id, text: 'x' })).toBe(
			'channel_not_found',
		);
	});
});

describe('messages', () => {
	test('a bot’s name and picture appear in answers, history, events and after edits', async () => {
		const socket = await connect(grace);
		const given = { username: 'Disk watch', icon_emoji: 'fire' };
		const posted = await bot.call('chat.postMessage', { channel, text: 'full', ...given });
		const shown = {
			username: 'Disk watch',
			icons: { emoji: ':fire:' },
			subtype: 'bot_message',
			user: bot.id,
		};
		expect(posted.message).toMatchObject(shown);
		expect(await newest()).toMatchObject(shown);
		expect(await socket.seen({ ts: posted.ts })).toMatchObject(shown);
		const edited = await bot.call('chat.update', { channel, ts: posted.ts, text: 'full again' });
		expect(edited.message).toMatchObject({ ...shown, text: 'full again' });
		const picture = { username: 'Watch', icon_url: 'https://example.com/a.png' };
		await bot.call('chat.postMessage', { channel, text: 'x', ...picture });
		expect(await newest()).toMatchObject({ icons: { image_48: 'https://example.com/a.png' } });
		await ada.call('chat.postMessage', { channel, text: 'mine', ...given });
		expect(await newest()).not.toHaveProperty('username');
		socket.close();
	});

	test('a bot’s message counts as unread like any other', async () => {
		const { ts } = await bot.call('chat.postMessage', { channel, text: 'counts' });
		await grace.call('conversations.mark', { channel, ts });
		await bot.call('chat.postMessage', { channel, text: 'alarm', username: 'Alarm' });
		const { items } = await grace.call('inbox.list');
		expect(items[0].latest).toMatchObject({ text: 'alarm', username: 'Alarm' });
		await ada.call('chat.meMessage', { channel, text: 'waves' });
		expect((await grace.call('conversations.info', { channel })).channel).toMatchObject({ unread_count: 2 });
	});

	test('the explanation of the badge has the bot’s name too', async () => {
		const opened = await bot.call('conversations.open', { users: grace.id });
		const place = opened.channel.id;
		await bot.call('chat.postMessage', { channel: place, text: 'psst', username: 'Whisper' });
		const { items } = await grace.call('client.explain', { channel: place });
		expect(items.at(-1)).toMatchObject({ text: 'psst', username: 'Whisper' });
	});

	test('link_names turns names into mentions, which count', async () => {
		const { ts } = await ada.call('chat.postMessage', { channel, text: 'before' });
		await grace.call('conversations.mark', { channel, ts });
		const text = 'see #quay, @person-1. Not `@person-1`, @nobody or a@person-1';
		await ada.call('chat.postMessage', { channel, text });
		expect((await newest()).text).toBe(text);
		await ada.call('chat.postMessage', { channel, text, link_names: 1 });
		const linked = `see <#${channel}|quay>, <@${grace.id}>. Not \`@person-1\`, @nobody or a@person-1`;
		expect((await newest()).text).toBe(linked);
		expect((await grace.call('conversations.info', { channel })).channel).toMatchObject({
			unread_count: 2,
			mention_count: 1,
		});
	});

	test('parse=full does the same', async () => {
		await ada.call('chat.postMessage', { channel, text: 'see #quay, @person-1', parse: 'full' });
		expect((await newest()).text).toBe(`see <#${channel}|quay>, <@${grace.id}>`);
		await ada.call('chat.postMessage', { channel, text: 'see #quay', parse: 'none' });
		expect((await newest()).text).toBe('see #quay');
	});

	test('metadata is returned to callers who ask for it', async () => {
		const metadata = { event_type: 'deployed', event_payload: { version: '3' } };
		const { ts } = await ada.call('chat.postMessage', { channel, text: 'v3', metadata });
		expect(await newest()).not.toHaveProperty('metadata');
		expect(await newest({ include_all_metadata: true })).toMatchObject({ metadata });
		const replies = async (args: Record<string, unknown>) =>
			(await ada.call('conversations.replies', { channel, ts, ...args })).messages[0];
		expect(await replies({})).not.toHaveProperty('metadata');
		expect(await replies({ include_all_metadata: 'True' })).toMatchObject({ metadata });
	});

	test('a tombstone does not name its author', async () => {
		const { ts } = await ada.call('chat.postMessage', { channel, text: 'root' });
		await grace.call('chat.postMessage', { channel, text: 'reply', thread_ts: ts });
		await ada.call('chat.delete', { channel, ts });
		const [root, reply] = (await grace.call('conversations.replies', { channel, ts })).messages;
		expect(root).toMatchObject({
			subtype: 'tombstone',
			user: 'USLACKBOT',
			text: 'This message was deleted.',
		});
		expect(reply).toMatchObject({ parent_user_id: 'USLACKBOT' });
		expect(JSON.stringify(root)).not.toContain(ada.id);
	});

	test('a permalink names the message, if the caller may read it', async () => {
		const { ts } = await ada.call('chat.postMessage', { channel, text: 'root' });
		const reply = await ada.call('chat.postMessage', { channel, text: 'reply', thread_ts: ts });
		const link = async (message_ts: string) =>
			(await grace.call('chat.getPermalink', { channel, message_ts })).permalink;
		expect(await link(ts)).toBe(`${server.url}/#/c/${channel}?at=${ts}`);
		expect(await link(reply.ts)).toBe(`${server.url}/#/c/${channel}?at=${ts}&thread=${channel}:${ts}`);
		const gone = { channel, message_ts: '1700000000.000000' };
		expect(await rejectionOf(grace, 'chat.getPermalink', gone)).toBe('message_not_found');
	});
});

describe('people', () => {
	test('Slackbot is in every list once, whatever the page size', async () => {
		const seen: string[] = [];
		for (let cursor: string | undefined = ''; cursor !== undefined; ) {
			const page = await ada.call('users.list', { limit: 2, ...(cursor ? { cursor } : {}) });
			expect(page.members.length).toBeLessThanOrEqual(2);
			seen.push(...page.members.map(({ id }: { id: string }) => id));
			cursor = page.response_metadata.next_cursor || undefined;
		}
		const all = (await ada.call('users.list')).members.map(({ id }: { id: string }) => id);
		expect(seen).toEqual(all);
		expect(all.filter((id: string) => id === 'USLACKBOT')).toHaveLength(1);
		expect(new Set(all).size).toBe(all.length);
		expect((await ada.call('users.info', { user: 'USLACKBOT' })).user).toMatchObject({
			name: 'slackbot',
			profile: { display_name: 'Slackbot' },
		});
		const { admin, team } = workspace;
		await expect(admin('admin.users.create', { team_id: team, name: 'slackbot' })).rejects.toThrow(
			'name_taken',
		);
	});

	test('a user’s own presence has Slack’s fields', async () => {
		const own = () => grace.call('users.getPresence');
		const gone = {
			presence: 'away',
			online: false,
			connection_count: 0,
			manual_away: false,
			auto_away: false,
		};
		await eventually(async () => expect(await own()).toMatchObject(gone), 10_000);
		const [one, two] = [await connect(grace), await connect(grace)];
		await eventually(
			async () =>
				expect(await own()).toMatchObject({
					presence: 'active',
					connection_count: 2,
					last_activity: expect.any(Number),
				}),
			10_000,
		);
		await grace.call('users.setPresence', { presence: 'away' });
		await eventually(
			async () =>
				expect(await own()).toMatchObject({ presence: 'away', manual_away: true, connection_count: 2 }),
			10_000,
		);
		await grace.call('users.setPresence', { presence: 'auto' });
		expect(await ada.call('users.getPresence', { user: grace.id })).not.toHaveProperty('manual_away');
		for (const socket of [one, two]) socket.close();
	});

	test('others see a profile with its status, at once and as an event, and the status ends when it says', async () => {
		const socket = await connect(grace);
		const profile = { status_text: 'at sea', status_emoji: ':ship:', real_name: 'Ada L.', title: 'Captain' };
		await ada.call('users.profile.set', { profile: JSON.stringify(profile) });
		expect((await grace.call('users.profile.get', { user: ada.id })).profile).toMatchObject(profile);
		const { user } = await socket.seen((frame) => frame.type === 'user_change' && frame.user.id === ada.id);
		expect(user).toMatchObject({ real_name: 'Ada L.', profile: { status_text: 'at sea' } });
		await ada.call('users.profile.set', { name: 'display_name', value: 'ada!' });
		const later = (await ada.call('users.info', { user: ada.id })).user.profile;
		expect(later).toMatchObject({ ...profile, display_name: 'ada!' });
		await ada.call('users.profile.set', { profile: { status_text: 'over', status_expiration: 1 } });
		expect((await ada.call('users.profile.get')).profile).toMatchObject({
			status_text: '',
			title: 'Captain',
		});
		expect(await rejectionOf(grace, 'users.profile.set', { user: ada.id, profile })).toBe('no_permission');
		expect(await rejectionOf(ada, 'users.profile.set', { profile: '[]' })).toBe('invalid_profile');
		expect(await rejectionOf(ada, 'users.profile.set', { profile: { title: 'x'.repeat(300) } })).toBe(
			'too_long',
		);
		socket.close();
	});

	test('users are found by their e-mail address, in any case, and only in the caller’s workspace', async () => {
		const { admin, team } = workspace;
		const address = { name: 'ida', email: 'Ida@Example.com' };
		const { user } = await admin('admin.users.create', { team_id: team, ...address });
		const found = await ada.call('users.lookupByEmail', { email: 'ida@example.com' });
		expect(found.user.id).toBe(user.id);
		const other = (await makeWorkspace(server.url, 1, 'Others')).people[0] as Person;
		expect(await rejectionOf(other, 'users.lookupByEmail', { email: 'ida@example.com' })).toBe(
			'users_not_found',
		);
	});
});

describe('the workspace', () => {
	test('team.info, bots.info, emoji.list and usergroups.list have Slack’s fields', async () => {
		expect((await ada.call('team.info')).team).toMatchObject({ id: workspace.team, name: 'Tests' });
		const { bot_id } = await bot.call('auth.test');
		expect((await ada.call('bots.info', { bot: bot_id })).bot).toMatchObject({ id: bot_id, user_id: bot.id });
		expect(await rejectionOf(ada, 'bots.info', { bot: `B${ada.id.slice(1)}` })).toBe('bot_not_found');
		expect(await ada.call('emoji.list')).toMatchObject({ emoji: {} });
		expect(await ada.call('usergroups.list')).toMatchObject({ usergroups: [] });
	});

	test('api.test answers anybody', async () => {
		const call = async (body: string) =>
			(
				await fetch(`${server.url}/api/api.test`, {
					method: 'POST',
					headers: { 'content-type': 'application/x-www-form-urlencoded' },
					body,
				})
			).json();
		expect(await call('')).toEqual({ ok: true });
		expect(await call('foo=bar')).toEqual({ ok: true, args: { foo: 'bar' } });
		expect(await call('error=my_error')).toEqual({
			ok: false,
			error: 'my_error',
			args: { error: 'my_error' },
		});
	});

	test('every answer says which scopes the token has', async () => {
		const scopes = async (token: string, method: string) => {
			const headers = { authorization: `Bearer ${token}` };
			return (await fetch(`${server.url}/api/${method}`, { headers })).headers.get('x-oauth-scopes');
		};
		expect(await scopes(ada.token, 'auth.test')).toContain('chat:write');
		expect(await scopes(ada.token, 'chat.postMessage')).toContain('identify');
		expect(await scopes(bot.token, 'auth.test')).toContain('chat:write.customize');
		expect(await scopes('xoxp-none', 'auth.test')).toBeNull();
	});

	test('every user has a direct message with Slackbot, which is listed, empty and rejects messages', async () => {
		const list = async (person: Person) => {
			const { channels } = await person.call('conversations.list', { types: 'im,mpim' });
			return channels.filter(({ user }: { user: string }) => user === 'USLACKBOT');
		};
		const [own] = await list(ada);
		expect(own).toMatchObject({ is_im: true, user: 'USLACKBOT' });
		const boot = await ada.call('client.userBoot');
		expect(boot.ims).toContainEqual(expect.objectContaining({ id: own.id }));
		const opened = await ada.call('conversations.open', { users: 'USLACKBOT', return_im: true });
		expect(opened.channel).toMatchObject({ id: own.id, latest: null });
		expect((await ada.call('conversations.info', { channel: own.id })).channel.user).toBe('USLACKBOT');
		expect((await ada.call('conversations.history', { channel: own.id })).messages).toEqual([]);
		const { members } = await ada.call('conversations.members', { channel: own.id });
		expect(members).toEqual([ada.id, 'USLACKBOT']);
		expect(await rejectionOf(ada, 'chat.postMessage', { channel: own.id, text: 'hello' })).toBe(
			'channel_not_found',
		);
		// Another user's conversation is not visible, and does not change the result of users.conversations.
		expect((await list(grace))[0].id).not.toBe(own.id);
		expect(await rejectionOf(grace, 'conversations.info', { channel: own.id })).toBe('channel_not_found');
	});

	test.each([1, 2])(
		'pages of %i direct messages keep to the limit and have each of them once',
		async (limit) => {
			for (const { id } of workspace.people) await bot.call('conversations.open', { users: id });
			const seen: string[] = [];
			for (let cursor: string | undefined = ''; cursor !== undefined; ) {
				const page = await bot.call('conversations.list', {
					types: 'im',
					limit,
					...(cursor ? { cursor } : {}),
				});
				expect(page.channels.length).toBeLessThanOrEqual(limit);
				seen.push(...page.channels.map(({ user }: { user: string }) => user));
				cursor = page.response_metadata.next_cursor || undefined;
			}
			expect(seen.sort()).toEqual([...workspace.people.map(({ id }) => id), 'USLACKBOT'].sort());
		},
	);

	test('a mark by the old method name, at the current time, reads everything', async () => {
		await ada.call('chat.postMessage', { channel, text: 'to be read' });
		for (const method of ['channels.mark', 'groups.mark', 'im.mark', 'mpim.mark']) {
			const ts = `${Math.floor(Date.now() / 1000) + 1}.000000`;
			expect(await grace.call(method, { channel, ts })).toMatchObject({ unread_count: 0 });
		}
	});

	test('a group message is a group, whose purpose names its members', async () => {
		const opened = await ada.call('conversations.open', { users: `${grace.id},${bot.id}`, return_im: true });
		expect(opened.channel).toMatchObject({ is_mpim: true, is_group: true, is_channel: false, is_open: true });
		expect(opened.channel.purpose.value).toMatch(/^Group messaging with: @\S+ @\S+ @\S+$/);
	});

	test('client.userBoot and users.prefs.get say what is muted', async () => {
		await grace.call('conversations.mute', { channel });
		const boot = await grace.call('client.userBoot');
		expect(boot.self.id).toBe(grace.id);
		expect(boot.team.id).toBe(workspace.team);
		expect(boot.channels.map(({ id }: { id: string }) => id)).toContain(channel);
		const { prefs } = await grace.call('users.prefs.get');
		expect(prefs.muted_channels.split(',')).toContain(channel);
		expect(JSON.parse(prefs.all_notifications_prefs).channels[channel]).toMatchObject({ muted: true });
		await grace.call('conversations.unmute', { channel });
	});

	test('preferences are stored for every device; derived ones are read-only', async () => {
		const socket = await connect(grace);
		await grace.call('users.prefs.set', { name: 'favourite.C1', value: '1' });
		expect(await socket.seen({ type: 'pref_change' })).toMatchObject({ name: 'favourite.C1', value: '1' });
		const { prefs } = await grace.call('users.prefs.set', { prefs: { 'favourite.C1': '', theme: true } });
		expect(prefs).toMatchObject({ theme: 'true', muted_channels: '' });
		expect(prefs).not.toHaveProperty('favourite.C1');
		expect((await grace.call('client.userBoot')).prefs).toMatchObject({ theme: 'true' });
		expect((await ada.call('users.prefs.get')).prefs).not.toHaveProperty('theme');
		const rejected = [
			[{ name: 'muted_channels', value: channel }, 'invalid_arguments'],
			[{ name: 'a b', value: '1' }, 'invalid_arguments'],
			[{ name: 'a', value: 'x'.repeat(2001) }, 'invalid_arguments'],
			[
				{ prefs: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`n${at}`, '1'])) },
				'too_many_prefs',
			],
			[{}, 'missing_argument'],
		] as const;
		for (const [args, error] of rejected)
			expect((await rawClient(server.url, grace.token)('users.prefs.set', args)).error).toBe(error);
		socket.close();
	});

	test('do not disturb is published to others and to the user’s devices', async () => {
		const socket = await connect(grace);
		const { snooze_endtime } = await grace.call('dnd.setSnooze', { num_minutes: 30 });
		expect(await grace.call('dnd.info')).toMatchObject({
			dnd_enabled: true,
			snooze_enabled: true,
			snooze_endtime,
		});
		const seen = await ada.call('dnd.info', { user: grace.id });
		expect(seen).toMatchObject({ dnd_enabled: true, next_dnd_end_ts: snooze_endtime });
		expect(seen).not.toHaveProperty('snooze_enabled');
		expect(await socket.seen({ type: 'dnd_updated' })).toMatchObject({
			dnd_status: { snooze_enabled: true },
		});
		expect(await grace.call('dnd.endSnooze')).toMatchObject({ dnd_enabled: false, snooze_enabled: false });
		const { users } = await ada.call('dnd.teamInfo', { users: `${grace.id},${ada.id}` });
		expect(users[grace.id]).toMatchObject({ dnd_enabled: false, next_dnd_end_ts: 1 });
		socket.close();
	});

	test('administrators choose the format of a token', async () => {
		const shapes: [string, RegExp][] = [
			['plain', /^xoxp-[\w-]{43}$/],
			['xoxp', /^xoxp-\d{12}-\d{12}-\d{12}-[0-9a-f]{64}$/],
			['xoxb', /^xoxb-\d{12}-\d{12}-[0-9a-f]{32}$/],
			['xoxc', /^xoxc-\d{12}-\d{12}-\d{12}-[0-9a-f]{64}$/],
		];
		for (const [shape, pattern] of shapes) {
			const { token } = await workspace.admin('admin.tokens.create', { user_id: ada.id, shape });
			expect(token).toMatch(pattern);
			expect(await client(server.url, token)('auth.test')).toMatchObject({ user_id: ada.id });
		}
	});
});
