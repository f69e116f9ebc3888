import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { client, rawClient } from '../support/api.ts';
import { AppClient, type Envelope } from '../support/app-client.ts';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** URLs that accept messages without a token, the possible answers of an app, and isolation between workspaces. */

let server: TestServer;
let stage: AppStage;
let other: AppStage;
beforeAll(async () => {
	server = await startServer();
	stage = await appStage(
		server.url,
		manifestOf({ commands: [{ command: '/tide' }, { command: '/ask', should_escape: true }] }),
	);
	other = await appStage(server.url, manifestOf());
}, 60_000);
afterAll(() => server?.stop());

const post = (url: string, body: string, type = 'application/json') =>
	fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
const newest = async () =>
	(await stage.ada('conversations.history', { channel: stage.channel, limit: 1 })).messages[0];

describe('incoming webhooks', () => {
	let url: string;
	beforeAll(async () => {
		const args = { app_id: stage.app, channel: stage.channel };
		url = (await stage.admin('admin.apps.webhooks.create', args)).webhook.url;
	});

	test('accept what alerting tools send', async () => {
		const alert = {
			channel: '#quay',
			username: 'Alertmanager',
			icon_emoji: ':fire:',
			attachments: [{ title: 'High water', color: 'danger', fallback: 'High water', mrkdwn_in: ['text'] }],
		};
		const answer = await post(url, JSON.stringify(alert));
		expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
		expect(await newest()).toMatchObject({
			username: 'Alertmanager',
			icons: { emoji: ':fire:' },
			attachments: alert.attachments,
			user: stage.bot,
		});
		const form = `payload=${encodeURIComponent(JSON.stringify({ text: 'from a form' }))}`;
		expect(await (await post(url, form, 'application/x-www-form-urlencoded')).text()).toBe('ok');
		expect(await newest()).toMatchObject({ text: 'from a form' });
	});

	test('post where the bot is not a member', async () => {
		const { channel } = await stage.ada('conversations.create', { name: 'alerts', is_private: true });
		const args = { app_id: stage.app, channel: channel.id };
		const { webhook } = await stage.admin('admin.apps.webhooks.create', args);
		expect(await (await post(webhook.url, '{"text":"inside"}')).text()).toBe('ok');
		const { messages } = await stage.ada('conversations.history', { channel: channel.id });
		expect(messages[0]).toMatchObject({ text: 'inside', user: stage.bot });
		expect(await (await post(url, `{"text":"no","channel":"${channel.id}"}`)).text()).toBe(
			'channel_not_found',
		);
	});

	test('return errors in Slack’s words', async () => {
		const rejected = async (address: string, body: string) => {
			const answer = await post(address, body);
			return [answer.status, await answer.text()];
		};
		expect(await rejected(url, '{"text":""}')).toEqual([400, 'no_text']);
		expect(await rejected(url, 'text')).toEqual([400, 'invalid_payload']);
		expect(await rejected(`${url}x`, '{"text":"x"}')).toEqual([404, 'no_service']);
		expect(await rejected(url.replace(stage.team, other.team), '{"text":"x"}')).toEqual([404, 'no_service']);
		expect(await rejected(url, '{"text":"x","channel":"#nowhere"}')).toEqual([404, 'channel_not_found']);
		const [{ id }] = (await stage.admin('admin.apps.webhooks.list', { app_id: stage.app })).webhooks;
		await stage.admin('admin.apps.webhooks.delete', { app_id: stage.app, webhook_id: id });
		expect(await rejected(url, '{"text":"x"}')).toEqual([404, 'no_service']);
	});
});

describe('commands', () => {
	let app: AppClient;
	beforeAll(async () => {
		app = await new AppClient(server.url, stage.appToken).start();
	});
	afterAll(() => app?.stop());
	const called = async (): Promise<Envelope> => {
		await stage.ada('chat.command', { channel: stage.channel, command: '/tide', text: 'now' });
		return app.envelopes.at(-1) as Envelope;
	};

	test('have names as they were written, or with ids if the manifest has should_escape', async () => {
		const { user } = await stage.ada('auth.test');
		const { channel } = await stage.ada('conversations.info', { channel: stage.channel });
		const text = `tell @${user} in #${channel.name}, not @nobody`;
		const texts: string[] = [];
		for (const command of ['/tide', '/ask']) {
			await stage.ada('chat.command', { channel: stage.channel, command, text });
			texts.push(app.envelopes.at(-1)?.payload.text);
		}
		expect(texts).toEqual([
			text,
			`tell <@${stage.adaId}|${user}> in <#${stage.channel}|${channel.name}>, not @nobody`,
		]);
	});

	test('have Slack’s fields, and a response_url that works five times', async () => {
		const { type, payload } = await called();
		expect(type).toBe('slash_commands');
		expect(payload).toMatchObject({
			command: '/tide',
			text: 'now',
			user_id: stage.adaId,
			channel_name: 'quay',
			api_app_id: stage.app,
		});
		const answers: string[] = [];
		for (let use = 1; use <= 6; use += 1) {
			const body = JSON.stringify({ text: `answer ${use}`, response_type: 'in_channel' });
			answers.push(await (await post(payload.response_url, body)).text());
		}
		expect(answers).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'expired_url']);
		expect(await newest()).toMatchObject({ text: 'answer 5' });
		const forged = payload.response_url.replace(/\/responses\/.{8}/, '/responses/AAAAAAAA');
		expect(await (await post(forged, '{"text":"x"}')).text()).toBe('expired_url');
	});

	test('response_url has the address that the app connected to, whatever Host header the user sends', async () => {
		const ada = client(server.url, stage.adaToken, { host: 'evil.example' });
		await ada('chat.command', { channel: stage.channel, command: '/tide' });
		expect(app.envelopes.at(-1)?.payload.response_url).toStartWith(`${server.url}/responses/`);
	});

	test('a trigger opens one view, for its own app', async () => {
		const { payload } = await called();
		const view = { type: 'modal', title: { type: 'plain_text', text: 'Tide' }, blocks: [] };
		const open = (token: string) =>
			rawClient(server.url, token)('views.open', { trigger_id: payload.trigger_id, view });
		expect(await open(other.botToken)).toMatchObject({ error: 'invalid_trigger_id' });
		expect(await open(stage.adaToken)).toMatchObject({ error: 'not_an_app' });
		const opened = await open(stage.botToken);
		expect(opened).toMatchObject({ ok: true, view: { app_id: stage.app } });
		expect(await open(stage.botToken)).toMatchObject({ error: 'exchanged_trigger_id' });
		const grace = rawClient(server.url, stage.graceToken);
		expect(await grace('views.submit', { view_id: opened.view.id })).toMatchObject({
			error: 'view_not_found',
		});
	});

	test('an app that does not acknowledge fails the command; a disconnected app fails it at once', async () => {
		const outside = rawClient(server.url, other.adaToken);
		const command = { channel: other.channel, command: '/tide' };
		expect(await outside('chat.command', command)).toMatchObject({ error: 'command_not_found' });
		app.stop();
		const inside = rawClient(server.url, stage.adaToken);
		const failed = { error: 'dispatch_failed' };
		expect(await inside('chat.command', { ...command, channel: stage.channel })).toMatchObject(failed);
	});
});

test('an app of another workspace is not found', async () => {
	const grace = rawClient(server.url, other.graceToken);
	const run = { app_id: stage.app, callback_id: 'new_tide' };
	expect(await grace('shortcuts.run', run)).toMatchObject({ error: 'app_not_found' });
	expect(await grace('apps.home.open', { app_id: stage.app })).toMatchObject({ error: 'app_not_found' });
	expect((await grace('commands.list')).commands).toEqual([]);
});

test('chat.postEphemeral reaches only members, and is not stored', async () => {
	const bot = rawClient(server.url, stage.botToken);
	const message = { channel: stage.channel, text: 'psst' };
	const { message_ts } = await bot('chat.postEphemeral', { ...message, user: stage.adaId });
	expect(message_ts).toMatch(/^\d{10}\.\d{6}$/);
	expect(await bot('chat.postEphemeral', { ...message, user: stage.graceId })).toMatchObject({
		error: 'user_not_in_channel',
	});
	expect(await newest()).not.toMatchObject({ text: 'psst' });
});

test('an app can open at most ten connections', async () => {
	const apps = await Promise.all(
		Array.from({ length: 10 }, () => new AppClient(server.url, other.appToken).start()),
	);
	const eleventh = new AppClient(server.url, other.appToken);
	await eleventh.start();
	eleventh.stop();
	expect(eleventh.envelopes[0]).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' });
	expect(Math.max(...apps.map(({ envelopes }) => envelopes[0]?.num_connections ?? 0))).toBe(10);
	await other.admin('admin.apps.delete', { app_id: other.app });
	for (const app of apps) app.stop();
});

test('a manifest may be YAML, and errors in it are reported', async () => {
	const yaml = 'display_information:\n  name: Tides\nsettings:\n  socket_mode_enabled: true\n';
	const { app } = await stage.admin('admin.apps.create', { team_id: stage.team, manifest: yaml });
	expect(app).toMatchObject({ name: 'Tides', socket_mode: true });
	const admin = rawClient(server.url, 'administrator-of-the-tests');
	const events = { event_subscriptions: { bot_events: 'app_mention' } };
	for (const [manifest, pointer] of [
		[{ display_information: {} }, '/display_information/name'],
		[
			{ display_information: { name: 'Tides' }, settings: events },
			'/settings/event_subscriptions/bot_events',
		],
	] as const) {
		expect(await admin('admin.apps.create', { team_id: stage.team, manifest })).toMatchObject({
			error: 'invalid_manifest',
			response_metadata: { messages: [expect.stringContaining(pointer)] },
		});
	}
});

test('open clients learn of the bot of a new app, and that the bot of a deleted app is deactivated', async () => {
	const { admin, team, adaId, adaToken, ada } = stage;
	const socket = await connect({ id: adaId, name: 'ada', token: adaToken, call: ada });
	try {
		const { app } = await admin('admin.apps.create', { team_id: team, manifest: manifestOf() });
		const about = (type: string) =>
			socket.seen((frame) => frame.type === type && frame.user.id === app.bot.user_id);
		expect((await about('team_join')).user).toMatchObject({ is_bot: true, deleted: false });
		await admin('admin.apps.delete', { app_id: app.id });
		expect((await about('user_change')).user).toMatchObject({ is_bot: true, deleted: true });
	} finally {
		socket.close();
	}
});
