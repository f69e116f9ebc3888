import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { App, type AppOptions } from '@slack/bolt';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { quiet } from '../support/slack.ts';
import { connect, type Frame, type TestSocket } from '../support/socket.ts';

/** Bolt for JavaScript with only its address changed: events, a command, a button, a modal, a home tab. */

const PATIENCE_MS = 10_000;
let server: TestServer;
beforeAll(async () => {
	server = await startServer();
}, 60_000);
afterAll(() => server?.stop());

const BUTTON = {
	type: 'actions',
	block_id: 'tide_actions',
	elements: [
		{ type: 'button', action_id: 'more', value: 'spring', text: { type: 'plain_text', text: 'More' } },
	],
};

const form = (title: string) => ({
	type: 'modal' as const,
	callback_id: 'tide_form',
	title: { type: 'plain_text' as const, text: title },
	submit: { type: 'plain_text' as const, text: 'Save' },
	blocks: [
		{
			type: 'input',
			block_id: 'place',
			label: { type: 'plain_text', text: 'Place' },
			element: { type: 'plain_text_input', action_id: 'name' },
		},
	] as never,
});

/** A bot as its author would write it. */
function tideBot(options: AppOptions): App {
	const app = new App({ logger: quiet, clientOptions: { slackApiUrl: `${server.url}/api/` }, ...options });
	app.message('hello', async ({ message, say }) => {
		await say({ text: `Hi <@${(message as { user: string }).user}>`, thread_ts: message.ts });
	});
	app.command('/tide', async ({ command, ack, respond }) => {
		await ack({ response_type: 'in_channel', text: `Tide at ${command.text}`, blocks: [BUTTON] as never });
		await respond({ text: 'only for you', response_type: 'ephemeral' });
	});
	app.action('more', async ({ ack, body, action, client, respond }) => {
		await ack();
		await respond({ text: `chose ${(action as { value: string }).value}`, replace_original: true });
		await client.views.open({ trigger_id: (body as { trigger_id: string }).trigger_id, view: form('Tide') });
	});
	app.view('tide_form', async ({ ack, view, body, client }) => {
		const place = view.state.values.place?.name?.value ?? '';
		if (place === '') {
			await ack({ response_action: 'errors', errors: { place: 'Say where' } });
			return;
		}
		await ack();
		await client.chat.postMessage({ channel: body.user.id, text: `Saved ${place}` });
	});
	app.shortcut('new_tide', async ({ ack, shortcut, client }) => {
		await ack();
		await client.views.open({ trigger_id: shortcut.trigger_id, view: form('From a shortcut') });
	});
	app.event('app_home_opened', async ({ event, client }) => {
		const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'High water at noon' } }] as never;
		await client.views.publish({ user_id: event.user, view: { type: 'home', blocks } });
	});
	return app;
}

const EVENTS = ['message.channels', 'app_home_opened'];

interface Scene {
	readonly stage: AppStage;
	readonly socket: TestSocket;
	stop(): Promise<unknown>;
}

const overSocketMode = async (): Promise<Scene> => {
	const manifest = manifestOf({ events: EVENTS, commands: [{ command: '/tide' }] });
	const stage = await appStage(server.url, manifest);
	const app = tideBot({ token: stage.botToken, appToken: stage.appToken, socketMode: true });
	await app.start();
	const socket = await connect({ id: stage.adaId, name: 'ada', token: stage.adaToken, call: stage.ada });
	return { stage, socket, stop: () => app.stop() };
};

const overHttp = async (): Promise<Scene> => {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/slack/events`;
	const commands = [{ command: '/tide', url }];
	const manifest = manifestOf({
		events: EVENTS,
		socketMode: false,
		requestUrl: url,
		interactivityUrl: url,
		commands,
	});
	const stage = await appStage(server.url, manifest);
	const app = tideBot({ token: stage.botToken, signingSecret: stage.signingSecret });
	await app.start(port);
	const socket = await connect({ id: stage.adaId, name: 'ada', token: stage.adaToken, call: stage.ada });
	return { stage, socket, stop: () => app.stop() };
};

async function freePort(): Promise<number> {
	const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
	const { port } = probe;
	await probe.stop(true);
	return port as number;
}

describe.each([
	['Socket Mode', overSocketMode],
	['HTTP', overHttp],
] as const)('Bolt over %s', (_name, start) => {
	let scene: Scene;
	beforeAll(async () => {
		scene = await start();
	}, 30_000);
	afterAll(async () => {
		scene?.socket.close();
		await scene?.stop();
	});
	const history = async (): Promise<Frame[]> => {
		const { stage } = scene;
		return (await stage.ada('conversations.history', { channel: stage.channel, limit: 20 })).messages;
	};

	test('answers a message', async () => {
		const { stage } = scene;
		const { ts } = await stage.ada('chat.postMessage', { channel: stage.channel, text: 'hello there' });
		await eventually(async () => {
			const { messages } = await stage.ada('conversations.replies', { channel: stage.channel, ts });
			expect(messages[1]).toMatchObject({ text: `Hi <@${stage.adaId}>`, user: stage.bot });
		}, PATIENCE_MS);
	}, 30_000);

	test('answers a command in the channel, and to its caller only', async () => {
		const { stage, socket } = scene;
		await stage.ada('chat.command', { channel: stage.channel, command: '/tide', text: 'Dover' });
		expect((await history())[0]).toMatchObject({ text: 'Tide at Dover', user: stage.bot });
		const only = await socket.seen((frame) => frame.is_ephemeral === true);
		expect(only).toMatchObject({ text: 'only for you', channel: stage.channel });
		expect((await history()).map(({ text }) => text)).not.toContain('only for you');
	}, 30_000);

	test('a button replaces its message and opens a modal, which is validated and submitted', async () => {
		const { stage, socket } = scene;
		const [message] = await history();
		const place = { type: 'message', channel_id: stage.channel, message_ts: message?.ts };
		const actions = [{ block_id: 'tide_actions', action_id: 'more', value: 'forged' }];
		await stage.ada('blocks.actions', { container: place, actions });
		await eventually(
			async () => expect((await history())[0]).toMatchObject({ text: 'chose spring', ts: message?.ts }),
			PATIENCE_MS,
		);
		const { view } = await socket.seen(({ type }) => type === 'view_opened');
		expect(view).toMatchObject({ callback_id: 'tide_form', app_id: stage.app });
		const submit = (value: string) =>
			stage.ada('views.submit', { view_id: view.id, state: { values: { place: { name: { value } } } } });
		expect(await submit('')).toMatchObject({ response_action: 'errors', errors: { place: 'Say where' } });
		expect(await submit('Dover')).not.toHaveProperty('response_action');
		await socket.seen(({ type, text }) => type === 'message' && text === 'Saved Dover');
		await socket.seen(({ type }) => type === 'view_closed');
	}, 30_000);

	test('a shortcut opens a view, and a home tab is published', async () => {
		const { stage, socket } = scene;
		await stage.ada('shortcuts.run', { app_id: stage.app, callback_id: 'new_tide' });
		const { view } = await socket.seen(
			({ type, view }) => type === 'view_opened' && view.title.text === 'From a shortcut',
		);
		await stage.ada('views.close', { view_id: view.id });
		await stage.ada('apps.home.open', { app_id: stage.app });
		await socket.seen(({ type, view }) => type === 'view_updated' && view.type === 'home');
		const { view: home } = await stage.ada('apps.home.open', { app_id: stage.app });
		expect(home.blocks[0].text.text).toBe('High water at noon');
	}, 30_000);
});
