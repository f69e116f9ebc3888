import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SocketModeClient } from '@slack/socket-mode';
import { client, rawClient } from '../support/api.ts';
import { AppClient } from '../support/app-client.ts';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { quiet } from '../support/slack.ts';

/** Events of an app over Socket Mode, with Slack's own client. */

let server: TestServer;
let stage: AppStage;
beforeAll(async () => {
	server = await startServer();
	stage = await appStage(
		server.url,
		manifestOf({
			events: [
				'message.channels',
				'app_mention',
				'member_joined_channel',
				'reaction_added',
				'reaction_removed',
				'pin_added',
				'pin_removed',
				'channel_rename',
				'channel_created',
				'team_join',
				'user_change',
			],
		}),
	);
}, 60_000);
afterAll(() => server?.stop());

interface Heard {
	readonly event: Record<string, unknown>;
	readonly body: { readonly event_id: string };
	readonly ack: () => Promise<void>;
}

async function connected(appToken: string): Promise<{ socket: SocketModeClient; received: Heard[] }> {
	const socket = new SocketModeClient({
		appToken,
		logger: quiet,
		clientOptions: { slackApiUrl: `${server.url}/api/` },
	});
	const received: Heard[] = [];
	socket.on('slack_event', (event: Heard & { type: string }) => {
		if (event.type === 'events_api') received.push(event);
	});
	await socket.start();
	return { socket, received };
}

const texts = (received: readonly Heard[]): unknown[] =>
	received
		.filter(({ body }) => body)
		.map(({ body }) => (body as unknown as { event: { text: unknown } }).event.text);

describe('Socket Mode', () => {
	test('an app receives messages where its bot is a member, and acknowledges each once', async () => {
		const { socket, received } = await connected(stage.appToken);
		try {
			await stage.ada('chat.postMessage', { channel: stage.channel, text: 'hello app' });
			await eventually(async () => expect(texts(received)).toContain('hello app'), 30_000);
			for (const { ack } of received) await ack();
		} finally {
			await socket.disconnect();
		}
	}, 60_000);

	test('an unacknowledged event is sent again with the same id, over the next connection', async () => {
		const first = await connected(stage.appToken);
		await stage.ada('chat.postMessage', { channel: stage.channel, text: 'to be kept' });
		await eventually(async () => expect(texts(first.received)).toContain('to be kept'), 30_000);
		await first.socket.disconnect();
		await stage.ada('chat.postMessage', { channel: stage.channel, text: 'while away' });
		const second = await connected(stage.appToken);
		try {
			await eventually(
				async () => expect(texts(second.received)).toEqual(['to be kept', 'while away']),
				30_000,
			);
			expect(second.received[0]?.body.event_id).toBe(first.received.at(-1)?.body.event_id as string);
			for (const { ack } of second.received) await ack();
		} finally {
			await second.socket.disconnect();
		}
	}, 60_000);

	test('an acknowledged event is not delivered again after a restart', async () => {
		await server.restart();
		await stage.ada('chat.postMessage', { channel: stage.channel, text: 'after the restart' });
		const { socket, received } = await connected(stage.appToken);
		try {
			await eventually(async () => expect(texts(received)).toEqual(['after the restart']), 30_000);
			for (const { ack } of received) await ack();
		} finally {
			await socket.disconnect();
		}
	}, 60_000);

	test('a mention, an edit, a join and a reaction cause events of their own', async () => {
		const { socket, received } = await connected(stage.appToken);
		socket.on('slack_event', ({ ack }: Heard) => void ack());
		try {
			const events = (): Record<string, unknown>[] =>
				received.map(({ body }) => (body as unknown as { event: Record<string, unknown> }).event);
			const receives = (event: Record<string, unknown>) =>
				eventually(async () => expect(events()).toContainEqual(expect.objectContaining(event)), 30_000);
			const text = `<@${stage.bot}> help`;
			const { ts } = await stage.ada('chat.postMessage', { channel: stage.channel, text });
			// If a message changes before it is delivered, only its newest state is sent.
			await receives({ type: 'app_mention', ts });
			await stage.ada('chat.update', { channel: stage.channel, ts, text: 'never mind' });
			await stage.ada('conversations.invite', { channel: stage.channel, users: stage.graceId });
			await stage.ada('reactions.add', { channel: stage.channel, timestamp: ts, name: 'ocean' });
			await receives({ subtype: 'message_changed' });
			await receives({ type: 'member_joined_channel', user: stage.graceId });
			await receives({ type: 'reaction_added', reaction: 'ocean', item_user: stage.adaId });
			await stage.ada('reactions.remove', { channel: stage.channel, timestamp: ts, name: 'ocean' });
			await receives({ type: 'reaction_removed', reaction: 'ocean' });
			await stage.ada('pins.add', { channel: stage.channel, timestamp: ts });
			await receives({ type: 'pin_added', user: stage.adaId, channel_id: stage.channel });
			await stage.ada('pins.remove', { channel: stage.channel, timestamp: ts });
			await receives({ type: 'pin_removed', channel_id: stage.channel });
			await stage.ada('conversations.rename', { channel: stage.channel, name: 'jetty' });
			await receives({ type: 'channel_rename' });
		} finally {
			await socket.disconnect();
		}
	}, 60_000);
});

test('events about the workspace are delivered once, including those from while the app was disconnected', async () => {
	const { admin, team, ada, adaId } = stage;
	const subjectsOf = (received: readonly Heard[]): unknown[] =>
		received.flatMap(({ body }) => {
			const { event } = body as unknown as {
				event: { type: string; channel: { id: string }; user: { id: string } };
			};
			if (event.type === 'channel_created') return [`channel_created ${event.channel.id}`];
			return ['team_join', 'user_change'].includes(event.type) ? [`${event.type} ${event.user.id}`] : [];
		});
	const created = async (name: string) => {
		const { user } = await admin('admin.users.create', { team_id: team, name });
		const { channel } = await ada('conversations.create', { name: `of-${name}` });
		// Neither concerns the bot.
		await ada('conversations.create', { name: `secret-${name}`, is_private: true });
		return [`channel_created ${channel.id}`, `team_join ${user.id}`];
	};
	const meantime = await created('linus');
	const first = await connected(stage.appToken);
	const live: string[] = [];
	try {
		await eventually(
			async () => expect(subjectsOf(first.received)).toEqual(expect.arrayContaining(meantime)),
			30_000,
		);
		live.push(...(await created('ken')));
		await ada('users.profile.set', { name: 'status_text', value: 'at sea' });
		live.push(`user_change ${adaId}`);
		await eventually(
			async () => expect(subjectsOf(first.received)).toEqual(expect.arrayContaining(live)),
			30_000,
		);
		for (const { ack } of first.received) await ack();
	} finally {
		await first.socket.disconnect();
	}
	const last = await created('dennis');
	const second = await connected(stage.appToken);
	try {
		await eventually(async () => expect(subjectsOf(second.received)).toHaveLength(2), 30_000);
		expect(subjectsOf(second.received).toSorted()).toEqual(last.toSorted());
		for (const { ack } of second.received) await ack();
	} finally {
		await second.socket.disconnect();
	}
}, 90_000);

test('a new subscription begins now, and the app keeps the events that it missed', async () => {
	const own = await appStage(server.url, manifestOf({ events: ['message.channels'] }));
	const { ts } = await own.ada('chat.postMessage', { channel: own.channel, text: 'missed' });
	const react = (name: string) => own.ada('reactions.add', { channel: own.channel, timestamp: ts, name });
	await react('ocean');
	const manifest = manifestOf({ events: ['message.channels', 'reaction_added'] });
	await own.admin('admin.apps.update', { app_id: own.app, manifest });
	await react('anchor');
	// An update that adds nothing changes nothing.
	await own.admin('admin.apps.update', { app_id: own.app, manifest });
	const app = await new AppClient(server.url, own.appToken).start();
	try {
		const received = () => app.events.map(({ payload: { event } }) => event.reaction ?? event.text);
		await eventually(async () => expect(received()).toEqual(['missed', 'anchor']), 30_000);
	} finally {
		app.stop();
	}
}, 60_000);

test('an app-level token only opens sockets, and a bot token opens none', async () => {
	const asApp = rawClient(server.url, stage.appToken);
	expect(await asApp('auth.test')).toMatchObject({ ok: false, error: 'not_allowed_token_type' });
	const asBot = rawClient(server.url, stage.botToken);
	expect(await asBot('apps.connections.open')).toMatchObject({ ok: false, error: 'not_allowed_token_type' });
	expect(await client(server.url, stage.botToken)('auth.test')).toMatchObject({ user_id: stage.bot });
});
