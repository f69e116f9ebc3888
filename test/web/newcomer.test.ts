import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { png } from '../support/png.ts';
import { type ServerProcess, serveProcess, withDirectory } from '../support/process.ts';
import { launchChromium } from '../support/web/chromium.ts';
import { tryNow } from '../support/web/screen.ts';

/** As a newcomer would, by mouse and keyboard alone: from the first start to two people who work together. */

let browser: Browser;
beforeAll(async () => {
	browser = await launchChromium();
}, 300_000);
afterAll(() => browser.close());

async function newPage(): Promise<Page> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
	const page = await context.newPage();
	page.setDefaultTimeout(15_000);
	return page;
}

async function join(link: string, name: string): Promise<Page> {
	const page = await newPage();
	await page.goto(link);
	await page.getByLabel('Your name').waitFor();
	// The text box has the focus, here and then in the general channel.
	await page.keyboard.type(name);
	await page.keyboard.press('Enter');
	await page.locator('.side-me', { hasText: name }).waitFor();
	await page.getByRole('main', { name: 'general' }).locator('.composer textarea').waitFor();
	await eventually(async () =>
		expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Message #general'),
	);
	return page;
}

async function write(page: Page, text: string): Promise<void> {
	await page.locator('.pane .composer textarea').fill(text);
	await page.keyboard.press('Enter');
}

async function scene(server: ServerProcess): Promise<void> {
	const token = await server.printed(/shown this once: (xoxa-\S+)/);
	await server.printed(/create a workspace and invite people/);
	const admin = await newPage();
	await admin.goto(`${server.url}/admin`);
	await admin.getByLabel('Administrator’s token').waitFor();
	await admin.keyboard.type(token);
	await admin.keyboard.press('Enter');
	await admin.getByLabel('New workspace').waitFor();
	await admin.keyboard.type('Pier');
	await admin.keyboard.press('Enter');
	const invite = async (): Promise<string> => {
		const field = admin.getByLabel('Invite link to Pier').first();
		const before = (await field.count()) > 0 ? await field.inputValue() : '';
		await admin.getByRole('button', { name: 'Create an invite link' }).click();
		await eventually(async () => expect(await field.inputValue()).not.toBe(before));
		return field.inputValue();
	};

	// The first person is alone, sees how to invite others, and creates a channel.
	const mia = await join(await invite(), 'Mia Berg');
	await mia.getByRole('button', { name: 'New conversation' }).click();
	const only = mia.getByText('You are the only person in this workspace.');
	await only.getByRole('link', { name: 'administration page' }).waitFor();
	await mia.getByRole('dialog').getByRole('combobox').fill('harbour');
	await mia.keyboard.press('Enter');
	// Until then the pane shows #general, with its own text box.
	await mia.getByRole('heading', { name: 'harbour' }).waitFor();
	await write(mia, 'The ferry leaves at nine');

	// The second person arrives by a link, finds the channel, previews it and joins.
	const tom = await join(await invite(), 'Tom Vane');
	await tom.keyboard.press('Control+k');
	await tom.getByRole('dialog').getByRole('combobox').fill('harb');
	await tom
		.getByRole('option', { name: /harbour/ })
		.first()
		.click();
	await tom.getByText('The ferry leaves at nine').waitFor();
	await tom.getByRole('button', { name: 'Join' }).click();
	await tom.locator('.pane .composer textarea').waitFor();

	// A reaction, which the other person sees.
	// The list is loaded again after joining, so the pointer must move to a rendered message.
	await eventually(async () => {
		await tom.mouse.move(0, 0);
		await tom.locator('.pane article', { hasText: 'ferry' }).hover();
		await tom.getByRole('button', { name: 'Add a reaction' }).click({ timeout: 2_000 });
	});
	await tom.getByRole('combobox', { name: 'Name of an emoji' }).fill('ferry');
	await tom.keyboard.press('Enter');
	await mia.locator('.reaction', { hasText: '⛴️ 1' }).waitFor();

	// A search.
	// Posts are found a moment later, when the index has them.
	await eventually(async () => {
		await tom.getByRole('link', { name: 'Inbox' }).click();
		await tom.getByRole('link', { name: 'Search' }).click();
		await tom.getByLabel('Search messages').fill('ferry from:mia.berg');
		await tom.keyboard.press('Enter');
		await tom.locator('.explained-sum, .pane .state', { hasText: /found|No matches/ }).waitFor();
		expect(await tom.getByText('1 message found').count()).toBe(1);
	});
	await tom.locator('.explained-link').click();
	await tom.locator('.pane article.highlighted', { hasText: 'ferry' }).waitFor();

	// A file, which the other person sees.
	const picture = { name: 'pier.png', mimeType: 'image/png', buffer: png(600, 400) };
	const choosing = mia.waitForEvent('filechooser');
	await mia.getByRole('button', { name: 'Attach files' }).click();
	await (await choosing).setFiles(picture);
	await write(mia, 'This is the pier');
	await tom.locator('.pane article', { hasText: 'This is the pier' }).locator('.picture img').waitFor();

	// An outage with a reload: nothing is lost, nothing exists twice.
	await tom.route('**/api/**', (route) => route.abort());
	await tom.context().setOffline(true);
	await tom.getByText('Reconnecting…').waitFor();
	await write(tom, '@mia.berg I will be there');
	await tom.getByText('1 message not sent yet').waitFor();
	await tom.locator('.pane .composer textarea').fill('and another thing');
	await tom.context().setOffline(false);
	await tom.reload();
	await tom.getByText('Connecting…', { exact: true }).waitFor();
	await tom.unroute('**/api/**');
	await tryNow(tom);
	await tom.locator('article.sent', { hasText: 'I will be there' }).waitFor();
	expect(await tom.locator('.pane .composer textarea').inputValue()).toBe('and another thing');
	await mia.locator('.pane article', { hasText: 'I will be there' }).waitFor();
	expect(await mia.locator('.pane article', { hasText: 'I will be there' }).count()).toBe(1);

	// Mentions lists the message once, whether it is still unread or already read; a read one once it is in the search index.
	await eventually(async () => {
		await mia.getByRole('link', { name: 'Inbox' }).click();
		await mia.getByRole('link', { name: 'Mentions' }).click();
		const mentions = mia.getByRole('main', { name: 'Mentions' });
		await mentions.getByRole('region').locator('li, .state').first().waitFor();
		expect(await mentions.getByText('I will be there').count()).toBe(1);
	});
	for (const page of [admin, mia, tom]) await page.context().close();
}

test(
	'from the first start to two people, a search, a reaction, a file, and an outage with a reload: nothing is lost',
	() =>
		withDirectory(async (directory) => {
			const server = await serveProcess(directory);
			await scene(server);
			await server.end('SIGTERM');
		}),
	120_000,
);
