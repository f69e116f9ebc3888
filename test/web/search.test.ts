import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { stage } from '../support/web/stage.ts';

/** Searching messages. */

const { scene, show } = stage();

test('a late answer to an earlier search does not replace the results of the last one', async () => {
	const { people, post } = await scene(2);
	await post(people[1], 'the slow barge');
	await post(people[1], 'the quick ferry');
	// The search index is a moment behind.
	await eventually(async () =>
		expect((await people[0].call('search.messages', { query: 'ferry' })).messages.total).toBe(1),
	);
	const { page } = await show(people[0]);
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	let isReleased = false;
	await page.route('**/api/search.messages', async (route) => {
		if (route.request().postDataJSON().query === 'barge') {
			const response = await route.fetch();
			await released;
			await route.fulfill({ response });
			isReleased = true;
		} else await route.continue();
	});
	await page.evaluate(`location.hash = '#/search?q=barge'`);
	await page.getByRole('status', { name: 'Searching' }).waitFor();
	await page.evaluate(`location.hash = '#/search?q=ferry'`);
	await page.locator('.explained li', { hasText: 'the quick ferry' }).waitFor();
	release();
	await eventually(async () => expect(isReleased).toBe(true));
	await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
	expect(await page.locator('.explained li').innerText()).toContain('the quick ferry');
});
