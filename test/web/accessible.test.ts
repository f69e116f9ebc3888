import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { stage } from '../support/web/stage.ts';

/** Usable by keyboard and screen reader, in light and dark, wide and narrow. */

const here = stage();
const { scene, show } = here;

interface Node {
	readonly ignored: boolean;
	readonly role?: { readonly value: string };
	readonly name?: { readonly value: string };
}

const CONTROLS = new Set([
	'button',
	'link',
	'textbox',
	'combobox',
	'searchbox',
	'checkbox',
	'menuitem',
	'menuitemradio',
	'option',
	'dialog',
	'main',
	'navigation',
	'complementary',
]);

/** The page as the browser describes it to a screen reader. */
async function expectNames(page: Page, least: number): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: Node[] };
	const controls = nodes.filter(({ ignored, role }) => !ignored && CONTROLS.has(role?.value ?? ''));
	expect(controls.length).toBeGreaterThanOrEqual(least);
	expect(controls.filter(({ name }) => !name?.value.trim()).map(({ role }) => role?.value)).toEqual([]);
	await session.detach();
}

const CONTROL = 'button, a[href], input, textarea, select, [role="option"], label:has(input)';

/**
 * Controls that a finger can miss: a square of 40 px around their centre is not completely theirs. Links within a text
 * are only as high as its lines. Controls that are not completely visible are not judged.
 */
const MISSED = `[...document.querySelectorAll(${JSON.stringify(CONTROL)})].filter((control) => {
	if (control.matches('.message-text *, .only-read-aloud *, label input, :disabled')) return false;
	const { left, top, width, height } = control.getBoundingClientRect();
	const [x, y] = [left + width / 2, top + height / 2];
	const isHit = (dx, dy) => {
		const hit = document.elementFromPoint(x + dx, y + dy);
		return hit !== null && control.contains(hit);
	};
	const isInSight = width > 0 && top >= 0 && left >= 0 && top + height <= innerHeight && left + width <= innerWidth;
	return isInSight && isHit(0, 0) && ![[-19, 0], [19, 0], [0, -19], [0, 19]].every(([dx, dy]) => isHit(dx, dy));
}).map((control) => control.className + ' ' + (control.ariaLabel ?? control.textContent))`;

/** The longest rendered line of people's messages, in characters. */
const LONGEST_LINE = `Math.max(0, ...[...document.querySelectorAll('.message-text')].flatMap((text) => {
	const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
	const lines = new Map();
	while (walker.nextNode()) {
		const range = document.createRange();
		for (let at = 0; at < walker.currentNode.length; at += 1) {
			range.setStart(walker.currentNode, at);
			range.setEnd(walker.currentNode, at + 1);
			const { top } = range.getBoundingClientRect();
			lines.set(top, (lines.get(top) ?? 0) + 1);
		}
	}
	return [...lines.values()];
}))`;

const LONG_TEXT =
	'The ferry leaves the old harbour at nine and is back before the evening tide turns. '.repeat(6);

for (const [colorScheme, width] of [
	['light', 1280],
	['dark', 390],
] as const) {
	const isPhone = width < 680;
	const rule = isPhone ? 'targets of 40 px' : 'lines of 75 characters';
	test(`every control has a name, nothing overflows, ${rule}: ${colorScheme}, ${width} px`, async () => {
		const { people, channel, post } = await scene(3);
		const [ada, grace] = people;
		const { channel: long } = await grace.call('conversations.create', { name: 'x'.repeat(80) });
		await grace.call('conversations.invite', { channel: long.id, users: ada.id });
		await post(grace, 'here too', { channel: long.id });
		const root = await post(grace, `<@${ada.id}> ${LONG_TEXT}\n&gt; ${LONG_TEXT}\n- ${LONG_TEXT}`);
		const reply = await post(grace, `<@${ada.id}> ${LONG_TEXT}`, { thread_ts: root });
		await ada.call('reactions.add', { channel, timestamp: reply, name: 'tada' });
		const section = { type: 'section', text: { type: 'mrkdwn', text: LONG_TEXT } };
		await post(grace, 'blocks', { blocks: [section] });
		const screen = await show(ada, { colorScheme, locale: 'en-US', viewport: { width, height: 800 } });
		const { page } = screen;
		const visit = async (hash: string, ready: string) => {
			await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
			await page.locator(ready).first().waitFor();
			await expectNames(page, 4);
			// Lists cut off overflowing content, so the rows themselves are checked.
			const sticksOut = `Math.max(document.documentElement.scrollWidth,
				...[...document.querySelectorAll('.side-row, .inbox-top, .thread-card, .explained li')]
					.map((one) => one.getBoundingClientRect().right)) - innerWidth`;
			expect(await page.evaluate<number>(sticksOut)).toBeLessThanOrEqual(0);
			await expectComfort();
		};
		const expectComfort = () =>
			isPhone
				? eventually(async () => expect(await page.evaluate<string[]>(MISSED)).toEqual([]))
				: eventually(async () => expect(await page.evaluate<number>(LONGEST_LINE)).toBeLessThanOrEqual(77));
		await visit('#/', '.side-row');
		await visit('#/inbox', '.inbox-item');
		await visit('#/threads', '.thread-card');
		await visit('#/mentions', '.explained li');
		await page.evaluate(`location.hash = '#/c/${channel}'`);
		await page.locator('.pane article').first().waitFor();
		await page.locator('.pane article').first().hover();
		await expectComfort();
		// The list may move under the pointer, which is then over no message.
		const clickAction = (name: string) =>
			eventually(async () => {
				await page.locator('.pane article').first().hover();
				await page.getByRole('button', { name }).click({ timeout: 2_000 });
			}, 60_000);
		await clickAction('More actions');
		await expectNames(page, 8);
		await expectComfort();
		await page.keyboard.press('Escape');
		await clickAction('Reply in thread');
		await page.locator('.thread-panel article').first().waitFor();
		await expectNames(page, 4);
		await expectComfort();
		await screen.expectExact();
	});
}

test('the keyboard alone opens a conversation, writes, moves between messages, marks unread, replies and returns', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'first');
	await post(grace, 'second');
	const screen = await show(ada);
	const { page } = screen;
	const unread = async () =>
		(await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount;
	await page.keyboard.press('Control+k');
	await page.getByRole('combobox', { name: 'A channel or a person' }).waitFor();
	await page.keyboard.type('harb');
	await page.keyboard.press('Enter');
	await screen.message('second').waitFor();
	await eventually(async () => expect(await unread()).toBe(0));
	await page.keyboard.type('third');
	await page.keyboard.press('Enter');
	await page.locator('article.sent', { hasText: 'third' }).waitFor();
	await page.keyboard.press('ArrowUp');
	const editing = page.getByRole('textbox', { name: 'Edit message' });
	await eventually(async () => expect(await editing.inputValue()).toBe('third'));
	await page.keyboard.press('Escape');
	await eventually(async () =>
		expect(await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)).toBe(
			'Message #harbour',
		),
	);
	await page.keyboard.press('Shift+Tab');
	await eventually(async () =>
		expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('third'),
	);
	await page.keyboard.press('ArrowUp');
	await eventually(async () =>
		expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('second'),
	);
	await page.keyboard.press('u');
	await eventually(async () => expect(await unread()).toBe(1));
	await screen.expectExact();
	await page.keyboard.press('r');
	const box = page.getByRole('textbox', { name: 'Reply in thread' });
	await box.waitFor();
	await eventually(async () =>
		expect(await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)).toBe(
			'Reply in thread',
		),
	);
	await page.keyboard.type('a reply');
	await page.keyboard.press('Enter');
	await page.locator('.thread-panel article.sent', { hasText: 'a reply' }).waitFor();
	await page.keyboard.press('Escape');
	await eventually(async () => expect(await page.locator('.thread-panel').count()).toBe(0));
	// The focus returns to the message, which now has a button for its thread.
	const expectOnSecond = () =>
		eventually(async () =>
			expect(
				await page.evaluate<string>(
					`document.activeElement.matches('.pane article') ? document.activeElement.textContent : 'elsewhere'`,
				),
			).toContain('second'),
		);
	await expectOnSecond();
	await screen.message('second').getByRole('button', { name: '1 reply' }).waitFor();
	await page.keyboard.press('Escape');
	await eventually(async () => expect(await unread()).toBe(0));
	await page.locator('.pane .composer textarea').focus();
	await page.keyboard.press('Shift+Tab');
	await expectOnSecond();
	await page.keyboard.press('u');
	await eventually(async () => expect(await unread()).toBe(1));
	expect(await page.locator('.pane .composer textarea').inputValue()).toBe('');
	await page.keyboard.press('Escape');
	await screen.expectExact();
});

interface Box {
	readonly top: number;
	readonly bottom: number;
	readonly height: number;
}

test('on a touch screen the actions of a message leave the line above visible, and menus show no keys', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	for (const text of ['above', 'tapped']) await post(grace, text);
	const screen = await show(ada, { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
	const { page } = screen;
	await screen.row('harbour').tap();
	const tapped = screen.message('tapped');
	await tapped.locator('.message-text').tap();
	// Both boxes from one layout: the list may scroll between two queries.
	const boxes = () =>
		page.evaluate<[Box, Box]>(`
			[...document.querySelectorAll('article')].filter((row) => row.textContent.includes('tapped'))
				.flatMap((row) => [row, row.querySelector('.message-actions')])
				.map((part) => part.getBoundingClientRect().toJSON())`);
	await eventually(async () => {
		const [row, actions] = await boxes();
		expect(actions.height).toBeGreaterThan(0);
		expect(actions.top).toBeGreaterThanOrEqual(row.top);
		expect(actions.bottom).toBeLessThanOrEqual(row.bottom);
	});
	await tapped.getByRole('button', { name: 'More actions' }).tap();
	await page.getByRole('menuitem', { name: 'Mark unread from here' }).waitFor();
	expect(await page.locator('.menu kbd:visible').count()).toBe(0);
});

test('new messages of others are announced to screen readers, and nothing else', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'before');
	const { page, ...screen } = await show(ada);
	await page.locator('.side-row[data-conversation]').click();
	await page.locator('article').first().waitFor();
	const log = page.getByRole('log');
	expect(await log.innerText()).toBe('');
	await post(ada, 'my own');
	await post(grace, 'hear *this*');
	await eventually(async () => expect(await log.innerText()).toBe('person-1: hear this'));
	expect(screen.errors).toEqual([]);
});

test('a jump to an old message and back announces nothing', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	const first = await post(grace, 'the very first');
	for (let index = 0; index < 150; index += 1) await post(grace, `later ${index}`);
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	await screen.message('later 149').waitFor();
	await page.evaluate(`new MutationObserver(() => { window.wasAnnounced = true; })
		.observe(document.querySelector('[role=log]'), { childList: true, characterData: true, subtree: true })`);
	await page.evaluate(`location.hash = '#/c/${channel}?at=${first}'`);
	await screen.message('the very first').waitFor();
	const log = page.getByRole('log');
	await page.getByRole('button', { name: 'Latest messages' }).click();
	await screen.message('later 149').waitFor();
	await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
	expect(await page.evaluate('window.wasAnnounced')).toBeUndefined();
	await post(grace, 'hear this');
	await eventually(async () => expect(await log.innerText()).toBe('person-1: hear this'));
});

test('the user chooses light or dark, and a reload keeps the choice', async () => {
	const { people } = await scene(2);
	const { page } = await show(people[0], { colorScheme: 'light' });
	const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
	const light = await ground();
	// The button follows the system until the user chooses.
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.getByRole('button', { name: 'Light colours' }).waitFor();
	await page.emulateMedia({ colorScheme: 'light' });
	await page.getByRole('button', { name: 'Dark colours' }).click();
	const dark = await ground();
	expect(dark).not.toBe(light);
	await page.reload();
	await page.getByRole('button', { name: 'Light colours' }).waitFor();
	expect(await ground()).toBe(dark);
});
