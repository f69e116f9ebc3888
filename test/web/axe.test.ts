import { expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { client } from '../support/api.ts';
import { png } from '../support/png.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { shared } from '../support/uploads.ts';
import { stage } from '../support/web/stage.ts';

/** Axe finds nothing to object to, on any page, in light and dark. */

const here = stage();
const AXE = await Bun.file(fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))).text();

interface Violation {
	readonly id: string;
	readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Once everything that moves has come to rest: a colour on its way is none to judge. */
async function violations(page: Page, name: string, rules: string): Promise<string[]> {
	await page.evaluate(
		'Promise.all(document.getAnimations().map((one) => one.effect.getTiming().iterations === Infinity ? undefined : one.finished.catch(() => undefined)))',
	);
	// Injected past the page's own policy, which takes no script from elsewhere.
	await page.evaluate(`${AXE}; undefined`);
	const { violations: found } = await page.evaluate<{ violations: Violation[] }>(
		`axe.run(document, { resultTypes: ['violations'], ${rules} })`,
	);
	return found.flatMap(({ id, nodes }) =>
		nodes
			.slice(0, 3)
			.map(({ target, failureSummary }) => `${name}: ${id} ${target.join(' ')} ${failureSummary}`),
	);
}

/** Everything in light; in dark, the colours, which alone differ. */
async function inBothThemes(page: Page, name: string): Promise<string[]> {
	const light = await violations(page, name, '');
	await page.emulateMedia({ colorScheme: 'dark' });
	const dark = await violations(page, `${name}, dark`, `runOnly: ['color-contrast']`);
	await page.emulateMedia({ colorScheme: 'light' });
	return [...light, ...dark];
}

test('axe finds nothing, in light and dark', async () => {
	const { people, channel, post } = await here.scene(3);
	const [ada, grace] = people;
	const root = await post(grace, `<@${ada.id}> look:\n- \`code\`\n&gt; a quote\nhttps://example.com`);
	await post(grace, `<@${ada.id}> a reply`, { thread_ts: root });
	await post(ada, 'Plain, by me');
	for (const [name, content] of [
		['pier.png', png(90, 60)],
		['notes.txt', 'Tides'],
	] as const)
		await shared(ada, name, content, { channel_id: channel });
	await grace.call('reactions.add', { channel, timestamp: root, name: 'tada' });
	await grace.call('conversations.create', { name: 'elsewhere' });
	const { page } = await here.show(ada, { colorScheme: 'light', locale: 'en-US' });
	const problems: string[] = [];
	const check = async (name: string) => problems.push(...(await inBothThemes(page, name)));
	const visit = async (hash: string, ready: string) => {
		await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
		await page.locator(ready).first().waitFor();
		await check(hash);
	};
	await visit('#/inbox', '.inbox-item');
	await visit('#/threads', '.thread-card');
	await visit('#/mentions', '.explained li');
	await visit('#/search', '.search-form');
	await visit('#/search?q=look', '.explained li');
	await visit(`#/c/${channel}`, '.picture img');
	await page.locator('.pane .composer input[type=file]').setInputFiles({
		name: 'chosen.png',
		mimeType: 'image/png',
		buffer: png(30, 20),
	});
	await page.locator('.chosen-files img').waitFor();
	await visit(`#/c/${channel}?thread=${channel}:${root}`, '.thread-panel article');
	const dialog = async (name: string, open: () => Promise<void>) => {
		await open();
		await page.getByRole('dialog').waitFor();
		await check(name);
		await page.keyboard.press('Escape');
		await page.locator('dialog').waitFor({ state: 'detached' });
	};
	const fromMenu = (item: string) => async () => {
		await page.locator('.side-me').getByRole('button', { name: 'More', exact: true }).click();
		await page.getByRole('menuitem', { name: item }).click();
	};
	await dialog('picture', () => page.getByRole('button', { name: 'Open pier.png' }).click());
	await dialog('switcher', () => page.keyboard.press('Control+k'));
	await dialog('new', () => page.getByRole('button', { name: 'New conversation' }).click());
	await dialog('members', () => page.getByRole('button', { name: 'Members' }).click());
	await dialog('devices', fromMenu('Your devices'));
	await dialog('photo', fromMenu('Your photo'));
	await dialog('keys', fromMenu('Keyboard shortcuts'));

	const { team_id } = await ada.call('auth.test');
	const admin = client(here.server.url, ADMIN_TOKEN);
	const { url } = await admin('admin.invites.create', { team_id });
	const context = await here.browser.newContext({ colorScheme: 'light', locale: 'en-US' });
	const outside = await context.newPage();
	const look = async (address: string, ready: string) => {
		await outside.goto(address);
		await outside.locator(ready).first().waitFor();
		problems.push(...(await inBothThemes(outside, address)));
		// Phones scroll it in one direction.
		const size = outside.viewportSize() ?? { width: 1280, height: 720 };
		await outside.setViewportSize({ width: 390, height: 800 });
		const sticksOut = await outside.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
		if (sticksOut > 0) problems.push(`${address}: ${sticksOut} px wider than a phone`);
		await outside.setViewportSize(size);
	};
	await look(`${here.server.url}/nothing`, 'h1');
	await look(`${here.server.url}/devices`, '.sign-in');
	await look(`${here.server.url}/`, '.sign-in');
	await look(url, '.sign-in input');
	await look(`${here.server.url}/admin`, '.sign-in');
	await outside.evaluate(`sessionStorage.setItem('tidemark.admin', '${ADMIN_TOKEN}')`);
	await look(`${here.server.url}/admin`, '.admin-members li');
	await look(`${here.server.url}/ops`, '.condition');
	await context.close();
	expect(problems).toEqual([]);
});
