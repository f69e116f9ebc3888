import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { Screen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** The operations page: only for the administrator, live, and open about processes that do not answer. */

const here = stage();

test('charts move with the load; a user’s token is rejected; an unanswering server is reported', async () => {
	const { people, post } = await here.scene(2);
	const [ada] = people;
	const context = await here.browser.newContext();
	const { page, errors } = new Screen(await context.newPage(), ada);
	await page.goto(`${here.server.url}/ops`);
	await page.getByLabel('Administrator’s token').fill(ada.token);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByText('This is not the administrator’s token.').waitFor();
	expect(await page.locator('.chart').count()).toBe(0);
	await page.getByLabel('Administrator’s token').fill(ADMIN_TOKEN);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByText('Everything works').waitFor();
	const link = page.getByRole('link', { name: 'Administration' });
	expect(await link.getAttribute('href')).toBe('/admin');
	expect(
		await page.evaluate<string>(
			`getComputedStyle(document.querySelector('.admin-head a')).textDecorationLine`,
		),
	).toBe('none');
	const posts = page.getByRole('region', { name: 'Posts and requests' }).locator('dd').first();
	await eventually(async () => {
		await Promise.all(Array.from({ length: 20 }, (_, index) => post(ada, `post ${index}`)));
		expect(Number.parseFloat(await posts.innerText())).toBeGreaterThan(0);
	}, 30_000);
	const titles = await page.locator('.chart h2').allInnerTexts();
	for (const title of ['Deliveries', 'Connections', 'Latency of requests', 'Lag', 'Memory'])
		expect(titles).toContain(title);
	expect(await page.locator('.chart canvas').count()).toBe(titles.length);
	expect(await page.getByRole('region', { name: 'Memory' }).locator('dd').first().innerText()).toMatch(
		/^[\d.,]+ MB$/,
	);
	expect(errors).toEqual([]);
	await page.route('**/metrics', (route) => route.abort());
	await page.getByText(/The server does not answer: check that it is running \(since .+\)/).waitFor();
	await page.unroute('**/metrics');
	await page.getByText('Everything works').waitFor();
	// An answer that the server does not send says which one it is, and who may have sent it.
	for (const path of ['/metrics', '/readyz']) {
		await page.route(`**${path}`, (route) => route.fulfill({ status: 403, body: '<h1>Forbidden</h1>' }));
		await page
			.getByText(
				`${path} was answered with status 403: a proxy may block this path; open /ops from inside your network (since `,
			)
			.waitFor();
		expect(await page.getByText('The server does not answer').count()).toBe(0);
		await page.unroute(`**${path}`);
		await page.getByText('Everything works').waitFor();
	}
	const facts = page.locator('.totals > div');
	expect((await facts.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual(
		expect.arrayContaining(['Wrong counts 0', 'Failed commits 0']),
	);
	expect(await page.locator('.totals .alarm').count()).toBe(0);
	// One process answers, and is named; if another one answers in between, each has its own charts.
	await page.getByText(/^server .+:\d+$/).waitFor();
	await page.route('**/metrics', async (route) => {
		const response = await route.fetch();
		const text = await response.text();
		const other = text.replace(/(tidemark_process_info)\{.*\}/, '$1{role="gateway",id="other:1"}');
		await route.fulfill({ response, body: other });
	});
	await page.getByRole('button', { name: 'gateway other:1' }).click();
	await page.getByText('Everything works at this gateway').waitFor();
	await page.unroute('**/metrics');
	expect(errors).toEqual(errors.filter((error) => /net::ERR_|status of 403/.test(error)));
	await page.getByRole('button', { name: 'Sign out' }).click();
	await page.getByLabel('Administrator’s token').waitFor();
	// A reload would sign in with a stored token.
	expect(await page.evaluate<number>('sessionStorage.length + localStorage.length')).toBe(0);
	await context.close();
});
