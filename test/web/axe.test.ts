import { expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { client } from '../support/api.ts';
import { png } from '../support/png.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { shared } from '../support/uploads.ts';
import { stage } from '../support/web/stage.ts';

/** Axe reports no violations on any page, in light and dark. */

const here = stage();
const AXE = await Bun.file(fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))).text();

interface Violation {
	readonly id: string;
	readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Waits until all transitions have ended: a changing colour cannot be judged. */
async function violations(page: Page, name: string, rules: string): Promise<string[]> {
	await page.evaluate(
		'Promise.all(document.getAnimations().map((one) => one.effect.getTiming().iterations === Infinity ? undefined : one.finished.catch(() => undefined)))',
	);
	// Injected past the page's policy, which allows no foreign scripts.
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

/** In light, all rules; in dark, only the contrast rules, because only colours differ. */
async function inBothThemes(page: Page, name: string): Promise<string[]> {
	const light = await violations(page, name, '');
	await page.emulateMedia({ colorScheme: 'dark' });
	const dark = await violations(page, `${name}, dark`, `runOnly: ['color-contrast']`);
	await page.emulateMedia({ colorScheme: 'light' });
	return [...light, ...dark];
}

test('axe reports no violations, in light and dark', async () => {
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
	const { channel: elsewhere } = await grace.call('conversations.create', { name: 'elsewhere' });
	const screen = await here.show(ada, { colorScheme: 'light', locale: 'en-US' });
	const { page } = screen;
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
	await visit(`#/c/${elsewhere.id}`, '.pane .button.primary');
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
	await dialog('profile', fromMenu('Your profile'));
	await dialog('keys', fromMenu('Keyboard shortcuts'));
	await dialog('notifications', fromMenu('Notifications'));
	const mine = page.locator('.pane article', { hasText: 'Plain, by me' });
	const ofMine = (item: string) => async () => {
		await mine.hover();
		await mine.getByRole('button', { name: 'More actions' }).click();
		await page.getByRole('menuitem', { name: item }).click();
	};
	await dialog('delete', ofMine('Delete…'));
	await dialog('readers', ofMine('Who has read this'));
	await dialog('reaction', async () => {
		await mine.hover();
		await mine.getByRole('button', { name: 'Add a reaction' }).click();
	});
	// During an outage: the banner, an unsent message, files that were not sent.
	await page.route('**/api/**', (route) => route.abort());
	await page.context().setOffline(true);
	await page.locator('.banner').waitFor();
	await page.locator('.pane .composer textarea').fill('with the picture');
	await page.keyboard.press('Enter');
	await page.locator('.upload .rejection').waitFor();
	await page.locator('.pane .composer textarea').fill('waits');
	await page.keyboard.press('Enter');
	await page.locator('article.sending').waitFor();
	await check('outage');
	await page.context().setOffline(false);
	await page.unroute('**/api/**');

	const { team_id } = await ada.call('auth.test');
	const admin = client(here.server.url, ADMIN_TOKEN);
	const { url } = await admin('admin.invites.create', { team_id });
	const context = await here.browser.newContext({ colorScheme: 'light', locale: 'en-US' });
	const outside = await context.newPage();
	const look = async (address: string, ready: string) => {
		await outside.goto(address);
		await outside.locator(ready).first().waitFor();
		problems.push(...(await inBothThemes(outside, address)));
		// Phones scroll the page in one direction only.
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
	await outside
		.getByRole('button', { name: /^Actions for/ })
		.first()
		.click();
	await outside.getByRole('menuitem', { name: 'Deactivate' }).click();
	await outside.getByRole('dialog').waitFor();
	problems.push(...(await inBothThemes(outside, 'question of /admin')));
	await look(`${here.server.url}/ops`, '.process-status');
	await look(`${here.server.url}/devices#token=${ada.token}&friend=${grace.token}`, 'iframe');
	// A user alone in an empty workspace, and a link while somebody is signed in.
	const { team } = await admin('admin.teams.create', { name: 'Empty' });
	const { url: alone } = await admin('admin.invites.create', { team_id: team.id });
	await outside.goto(alone);
	await outside.getByLabel('Your name').fill('Only One');
	await outside.keyboard.press('Enter');
	await outside.locator('.state-actions').waitFor();
	problems.push(...(await inBothThemes(outside, 'empty workspace')));
	await outside.getByRole('button', { name: 'Write to someone' }).click();
	await outside.getByText('You are the only person').waitFor();
	problems.push(...(await inBothThemes(outside, 'alone')));
	await look(`${here.server.url}/#token=${grace.token}`, '.sign-in');
	await context.close();
	// The browser's own errors about failed requests are not the page's.
	const ofThePage = screen.errors.filter((error) => !/net::ERR_|WebSocket/.test(error));
	screen.errors.splice(0, screen.errors.length, ...ofThePage);
	expect(problems).toEqual([]);
});
