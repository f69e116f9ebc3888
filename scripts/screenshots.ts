// `npm run screenshots`: takes the screenshots of the web interface in docs/pictures. Starts a server with the demo workspace, and
// Chromium; both are removed afterwards.

import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ADMIN_TOKEN, startServer } from '../test/support/server.ts';
import { launchChromium } from '../test/support/web/chromium.ts';
import { makeScene, type PictureScene } from './screenshots-scene.ts';

const PICTURES = join(import.meta.dir, '..', 'docs', 'pictures');
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 780 };
/** Time for names, previews and charts to load. */
const SETTLE_MS = 1_200;

const server = await startServer();
const browser = await launchChromium();
const scene = await makeScene(server.url);

async function open(browser: Browser, address: string, options: BrowserContextOptions): Promise<Page> {
	const context = await browser.newContext({
		viewport: WIDE,
		timezoneId: 'Europe/Lisbon',
		locale: 'en-GB',
		...options,
	});
	const page = await context.newPage();
	await page.goto(server.url + address);
	return page;
}

async function capture(page: Page, name: string): Promise<void> {
	await page.waitForTimeout(SETTLE_MS);
	await page.screenshot({ path: join(PICTURES, `web-${name}.png`) });
	await page.context().close();
	console.log(`docs/pictures/web-${name}.png`);
}

const link = ({ ada }: PictureScene): string => `/#token=${ada.token}`;

async function go(page: Page, hash: string): Promise<void> {
	await page.locator('.side-me').waitFor({ state: 'attached' });
	await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

// Pages that mark messages as read come last.
const inbox = await open(browser, link(scene), {});
await go(inbox, '#/inbox');
await capture(inbox, 'inbox');

const mentions = await open(browser, link(scene), { colorScheme: 'dark' });
await go(mentions, '#/mentions');
await capture(mentions, 'mentions');

const narrowHome = await open(browser, link(scene), { viewport: NARROW });
await narrowHome.locator('.side-row').first().waitFor();
await capture(narrowHome, 'narrow-list');

const devices = await open(browser, `/devices#token=${scene.ada.token}&friend=${scene.grace.token}`, {});
await devices.frameLocator('iframe[title=Laptop]').locator('.inbox-item').first().waitFor();
await capture(devices, 'devices');

const conversation = await open(browser, link(scene), {});
await go(conversation, `#/c/${scene.channel}`);
await conversation.locator('.new-divider').waitFor();
await conversation.locator('.pane article').last().hover();
await capture(conversation, 'conversation');

const thread = await open(browser, link(scene), { colorScheme: 'dark' });
await go(thread, `#/c/${scene.channel}?thread=${scene.channel}:${scene.thread}`);
await thread.locator('.thread-panel article').first().waitFor();
await capture(thread, 'thread-dark');

const narrow = await open(browser, link(scene), { viewport: NARROW, colorScheme: 'dark' });
await go(narrow, `#/c/${scene.channel}`);
await narrow.locator('.pane article').first().waitFor();
await capture(narrow, 'narrow-conversation');

const ops = await open(browser, '/ops', {});
await ops.getByLabel('Administrator’s token').fill(ADMIN_TOKEN);
await ops.getByRole('button', { name: 'Sign in' }).click();
// A connected user receives the messages, so that the charts show deliveries.
const reader = await open(browser, link(scene), {});
await scene.makeTraffic(24_000);
await reader.context().close();
await capture(ops, 'operations');

await browser.close();
await server.stop();
