import { expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import { AppClient } from '../support/app-client.ts';
import { appStage, manifestOf } from '../support/apps.ts';
import { stage } from '../support/web/stage.ts';

/** Apps in a real Chromium: a command, what only its caller sees, a button, and a modal that is checked and submitted. */

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

test('a command, a button and a modal', async () => {
	const { url } = web.server;
	const app = await appStage(url, manifestOf({ commands: [{ command: '/tide' }] }));
	const bot = client(url, app.botToken);
	const submitted: string[] = [];
	const running = await new AppClient(url, app.appToken, ({ type, payload }) => {
		if (type === 'slash_commands') {
			void bot('chat.postMessage', { channel: app.channel, text: 'Tides', blocks: BLOCKS });
			return { text: `Looking up ${payload.text}` };
		}
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
	} finally {
		running.stop();
	}
}, 90_000);
