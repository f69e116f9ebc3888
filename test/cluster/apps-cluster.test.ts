import { beforeAll, expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import { AppClient } from '../support/app-client.ts';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import type { TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

/** Apps on a cluster: sockets at any gateway, each event goes to one of them, and no event is lost with a gateway. */

let cluster: TestCluster;
let stage: AppStage;
beforeAll(async () => {
	cluster = await sharedCluster();
	stage = await appStage(
		cluster.url,
		manifestOf({
			events: ['message.channels', 'channel_created', 'team_join'],
			commands: [{ command: '/tide' }],
		}),
	);
}, 90_000);

const PATIENCE_MS = 60_000;
const textsOf = (apps: readonly AppClient[]): string[] =>
	apps.flatMap(({ events }) =>
		events.flatMap(({ payload }) => (payload.event.type === 'message' ? [payload.event.text as string] : [])),
	);

async function post(from: number, to: number): Promise<void> {
	for (let number = from; number < to; number += 1) {
		const message = { channel: stage.channel, text: `tide ${number}`, client_msg_id: `tide-${number}` };
		// If the gateway is killed, the post is repeated at another one; its client_msg_id keeps it single.
		await eventually(() => stage.ada('chat.postMessage', message), PATIENCE_MS);
	}
}

test('each event goes to one of the app’s connections', async () => {
	const apps = await Promise.all([1, 2, 3].map(() => new AppClient(cluster.url, stage.appToken).start()));
	await post(0, 10);
	await eventually(async () => expect(new Set(textsOf(apps)).size).toBe(10), PATIENCE_MS);
	expect(textsOf(apps)).toHaveLength(10);
	for (const app of apps) app.stop();
}, 90_000);

test('a new channel and a new user cause events', async () => {
	const app = await new AppClient(cluster.url, stage.appToken).start();
	const { channel } = await stage.ada('conversations.create', { name: 'mole' });
	const { user } = await stage.admin('admin.users.create', { team_id: stage.team, name: 'linus' });
	const received = () =>
		app.events.map(
			({ payload }) => `${payload.event.type} ${payload.event.channel?.id ?? payload.event.user?.id}`,
		);
	await eventually(
		async () =>
			expect(received()).toEqual(
				expect.arrayContaining([`channel_created ${channel.id}`, `team_join ${user.id}`]),
			),
		PATIENCE_MS,
	);
	app.stop();
}, 90_000);

test('a command reaches the app from any gateway, and its answer returns', async () => {
	const answered: string[] = [];
	const app = await new AppClient(cluster.url, stage.appToken, ({ type, payload }) => {
		if (type === 'slash_commands') answered.push(payload.text);
		return type === 'slash_commands'
			? { text: `tide at ${payload.text}`, response_type: 'in_channel' }
			: null;
	}).start();
	for (const gateway of cluster.gateways) {
		const call = client(gateway.url, stage.adaToken);
		const command = { channel: stage.channel, command: '/tide', text: gateway.url };
		await eventually(() => call('chat.command', command), PATIENCE_MS);
		const { messages } = await call('conversations.history', { channel: stage.channel, limit: 1 });
		expect(messages[0]).toMatchObject({ text: `tide at ${gateway.url}`, user: stage.bot });
	}
	expect(new Set(answered)).toEqual(new Set(cluster.gateways.map(({ url }) => url)));
	app.stop();
}, 90_000);

test('killing a gateway under load loses no unacknowledged event', async () => {
	// The app ignores one in three events at first: these are pending when the gateway dies.
	const seen = new Set<string>();
	const answer = ({ payload }: { payload?: { event_id: string } }) => {
		const id = payload?.event_id ?? '';
		const isFirst = !seen.has(id);
		seen.add(id);
		return isFirst && seen.size % 3 === 0 ? undefined : null;
	};
	const apps = await Promise.all(
		[1, 2].map(() => new AppClient(cluster.url, stage.appToken, answer).start()),
	);
	const load = post(100, 160);
	await eventually(async () => expect(textsOf(apps).length).toBeGreaterThan(20), PATIENCE_MS);
	const holder = await holderOf();
	await cluster.end(holder, 'SIGKILL');
	await load;
	await cluster.add('gateway');
	const posted = Array.from({ length: 60 }, (_, index) => `tide ${100 + index}`);
	await eventually(async () => {
		const received = new Set(textsOf(apps));
		expect(posted.filter((text) => !received.has(text))).toEqual([]);
	}, PATIENCE_MS);
	for (const app of apps) app.stop();
}, 150_000);

/** The gateway that has sockets of the app; the first one if both have. */
async function holderOf() {
	for (const gateway of cluster.gateways) {
		const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
		if (/^tidemark_app_sockets [1-9]/m.test(metrics)) return gateway;
	}
	throw new Error('no gateway has a socket of the app');
}
