import { expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import { AppClient } from '../support/app-client.ts';
import { appStage, manifestOf } from '../support/apps.ts';
import { eventually } from '../support/eventually.ts';
import { stage } from '../support/web/stage.ts';

/**
 * Apps in a real Chromium: a command, an ephemeral answer, a button, a modal that is validated and submitted, shortcuts,
 * a home tab.
 */

const web = stage();

const BLOCKS = [
	{ type: 'section', text: { type: 'mrkdwn', text: 'High water at noon' } },
	{
		type: 'actions',
		block_id: 'tide',
		elements: [
			{
				type: 'button',
				action_id: 'more',
				value: 'spring',
				text: { type: 'plain_text', text: 'More tides' },
			},
		],
	},
];
const VIEW = {
	type: 'modal',
	title: { type: 'plain_text', text: 'A new tide' },
	submit: { type: 'plain_text', text: 'Save' },
	blocks: [
		{
			type: 'input',
			block_id: 'place',
			label: { type: 'plain_text', text: 'Place' },
			element: { type: 'plain_text_input', action_id: 'name' },
		},
	],
};

const HOME = {
	type: 'home',
	blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'Tides of the week' } }],
};

test('a command, a button, a modal, shortcuts and a home tab work', async () => {
	const { url } = web.server;
	const app = await appStage(
		url,
		manifestOf({ commands: [{ command: '/tide' }], events: ['app_home_opened'] }),
	);
	const bot = client(url, app.botToken);
	const submitted: string[] = [];
	const ran: string[] = [];
	const running = await new AppClient(url, app.appToken, ({ type, payload }) => {
		if (type === 'slash_commands') {
			void bot('chat.postMessage', { channel: app.channel, text: 'Tides', blocks: BLOCKS });
			return { text: `Looking up ${payload.text}` };
		}
		if (payload.type === 'shortcut' || payload.type === 'message_action') ran.push(payload.callback_id);
		if (payload.event?.type === 'app_home_opened')
			void bot('views.publish', { user_id: app.adaId, view: HOME });
		if (payload.type === 'block_actions')
			void bot('views.open', { trigger_id: payload.trigger_id, view: VIEW });
		if (payload.type !== 'view_submission') return null;
		const place = payload.view.state.values.place?.name?.value ?? '';
		submitted.push(place);
		return place === 'Dover'
			? null
			: { response_action: 'errors', errors: { place: 'Only Dover has tides' } };
	}).start();
	try {
		const ada = { id: app.adaId, name: 'ada', token: app.adaToken, call: app.ada };
		const { page } = await web.show(ada);
		await page.goto(`${url}/#/c/${app.channel}`);
		await page.getByRole('textbox', { name: /^Message/ }).fill('/tide Dover');
		await page.keyboard.press('Enter');
		await page.getByText('Looking up Dover').waitFor();
		await page.getByRole('button', { name: 'More tides' }).click();
		const dialog = page.getByRole('dialog', { name: 'A new tide' });
		await dialog.getByLabel('Place').fill('Bern');
		await dialog.getByRole('button', { name: 'Save' }).click();
		await dialog.getByText('Only Dover has tides').waitFor();
		await dialog.getByLabel('Place').fill('Dover');
		await dialog.getByRole('button', { name: 'Save' }).click();
		await dialog.waitFor({ state: 'hidden' });
		expect(submitted).toEqual(['Bern', 'Dover']);

		// A message shortcut, and a shortcut that the text box suggests after a slash.
		await page.getByText('High water at noon').hover();
		await page.getByRole('button', { name: 'More actions' }).last().click();
		await page.getByRole('menuitem', { name: 'Quote' }).click();
		await eventually(async () => expect(ran).toEqual(['quote']), 30_000);
		await page.getByRole('textbox', { name: /^Message/ }).fill('/new');
		await page.getByRole('option', { name: 'New tide' }).click();
		await eventually(async () => expect(ran).toEqual(['quote', 'new_tide']), 30_000);

		// The home tab that the app publishes when it is opened, in the direct message with its bot.
		const direct = await app.ada('conversations.open', { users: app.bot });
		await page.goto(`${url}/#/c/${direct.channel.id}`);
		const answering = Promise.withResolvers<void>();
		await page.route('**/api/apps.home.open', async (route) => {
			await answering.promise;
			await route.fulfill({ json: { ok: false, error: 'service_unavailable' } });
		});
		await page.getByRole('button', { name: 'Home', exact: true }).click();
		const home = page.getByRole('dialog', { name: /^Home of/ });
		await home.getByRole('status', { name: 'Loading' }).waitFor();
		answering.resolve();
		await home.getByText('The server cannot do this right now.').waitFor();
		expect(await home.getByText('has not published a home tab').count()).toBe(0);
		await page.unroute('**/api/apps.home.open');
		await home.getByRole('button', { name: 'Try again' }).click();
		await home.getByText('Tides of the week').waitFor();
	} finally {
		running.stop();
	}
}, 90_000);
