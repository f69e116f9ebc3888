import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Call, rawClient } from '../support/api.ts';
import { AppClient } from '../support/app-client.ts';
import { type AppStage, appStage, manifestOf } from '../support/apps.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { connect } from '../support/socket.ts';

/** Modals: what users submit, what apps answer, and whose views an app stacks. */

let server: TestServer;
let stage: AppStage;
let app: AppClient;
let ada: Call;
let bot: Call;
let answer: object | null = null;

beforeAll(async () => {
	server = await startServer();
	stage = await appStage(server.url, manifestOf({ commands: [{ command: '/tide' }] }));
	await stage.ada('conversations.invite', { channel: stage.channel, users: stage.graceId });
	ada = rawClient(server.url, stage.adaToken);
	bot = rawClient(server.url, stage.botToken);
	app = await new AppClient(server.url, stage.appToken, ({ payload }) =>
		payload.type === 'view_submission' ? answer : null,
	).start();
}, 60_000);
afterAll(async () => {
	app?.stop();
	await server?.stop();
});

const VIEW = {
	type: 'modal',
	title: { type: 'plain_text', text: 'Tide' },
	blocks: [{ type: 'input', block_id: 'place', element: { type: 'plain_text_input', action_id: 'name' } }],
};

const triggerOf = async (user: Call): Promise<string> => {
	await user('chat.command', { channel: stage.channel, command: '/tide' });
	return app.envelopes.at(-1)?.payload.trigger_id;
};
const opened = async (user: Call): Promise<string> =>
	(await bot('views.open', { trigger_id: await triggerOf(user), view: VIEW })).view.id;

test.each([{ values: null }, { values: [] }, { values: 'x' }, {}])(
	'a form without values is submitted empty: %j',
	async (state) => {
		answer = null;
		const view_id = await opened(stage.ada);
		expect(await ada('views.submit', { view_id, state })).toMatchObject({ ok: true });
		expect(app.envelopes.at(-1)?.payload.view.state).toEqual({ values: {} });
	},
);

test.each(['update', 'push'])('an app that answers with %s needs a valid view', async (response_action) => {
	const view_id = await opened(stage.ada);
	for (const view of [undefined, null, 'modal', [], { ...VIEW, title: null }]) {
		answer = { response_action, view };
		expect(await ada('views.submit', { view_id })).toMatchObject({ error: 'invalid_view' });
	}
	answer = { response_action, view: VIEW };
	expect(await ada('views.submit', { view_id })).toMatchObject({ ok: true, response_action });
});

test('an app may answer with a view of 250 KB', async () => {
	const view_id = await opened(stage.ada);
	const sent = app.envelopes.length;
	answer = { response_action: 'update', view: { ...VIEW, private_metadata: 'x'.repeat(249_000) } };
	expect(await ada('views.submit', { view_id })).toMatchObject({ ok: true, response_action: 'update' });
	expect(app.envelopes).toHaveLength(sent + 1);
});

test('an app pushes only onto a modal of the user who caused the trigger', async () => {
	const [ofAda, ofGrace] = [await opened(stage.ada), await opened(stage.grace)];
	const home = await bot('views.publish', { user_id: stage.adaId, view: { type: 'home', blocks: [] } });
	const push = async (view_id: string) =>
		bot('views.push', { trigger_id: await triggerOf(stage.ada), view_id, view: VIEW });
	expect(await push(ofGrace)).toMatchObject({ error: 'view_not_found' });
	expect(await push(home.view.id)).toMatchObject({ error: 'view_not_found' });
	const { view } = await push(ofAda);
	expect(view).toMatchObject({ previous_view_id: ofAda });
	const socket = await connect({ id: stage.adaId, name: 'ada', token: stage.adaToken, call: stage.ada });
	answer = { response_action: 'clear' };
	await ada('views.submit', { view_id: view.id });
	expect(await ada('views.get', { view_id: ofAda })).toMatchObject({ error: 'view_not_found' });
	expect(await stage.grace('views.get', { view_id: ofGrace })).toMatchObject({ ok: true });
	for (const id of [view.id, ofAda])
		await socket.seen((frame) => frame.type === 'view_closed' && frame.view.id === id);
	socket.close();
});

test('an app’s ids may be names that JavaScript uses itself', async () => {
	answer = null;
	const blocks = ['__proto__', 'constructor'].map((block_id) => ({
		type: 'input',
		block_id,
		element: { type: 'plain_text_input', action_id: '__proto__' },
	}));
	const trigger_id = await triggerOf(stage.ada);
	const { view } = await bot('views.open', { trigger_id, view: { ...VIEW, blocks } });
	const entered = '{"__proto__":{"__proto__":{"value":"a"}},"constructor":{"__proto__":{"value":"b"}}}';
	await ada('views.submit', { view_id: view.id, state: `{"values":${entered}}` });
	const { values } = app.envelopes.at(-1)?.payload.view.state ?? {};
	expect(JSON.stringify(values)).toBe(entered.replaceAll('{"value"', '{"type":"plain_text_input","value"'));
	expect(Object.keys(Object.prototype)).toEqual([]);
});
