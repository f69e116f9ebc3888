import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import type { Screen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Staying at the end, marking unread, and finding conversations that the user is not in. */

const here = stage();
const { scene, show } = here;

const isAtEnd = ({ page }: Screen) =>
	page.evaluate<boolean>(`(() => {
		const list = document.querySelector('.pane .timeline');
		return list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
	})()`);

test('the list stays at its end while messages arrive fast; scrolled up, the button counts new messages', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	for (let index = 0; index < 30; index += 1) await post(grace, `before ${index}`);
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	await page.locator('.pane .timeline').hover();
	for (let round = 0; round < 3; round += 1) {
		// The user scrolls to the end while messages of all lengths arrive.
		await page.mouse.wheel(0, 600);
		for (let index = 0; index < 15; index += 1)
			await post(grace, `burst ${round} ${index} ${'and more of it '.repeat((index * 7) % 40)}`);
		await screen.message(`burst ${round} 14`).waitFor();
		await eventually(async () => expect(await isAtEnd(screen)).toBe(true));
	}
	await page.mouse.wheel(0, -900);
	await page.getByRole('button', { name: 'Latest messages ↓' }).waitFor();
	for (let index = 0; index < 3; index += 1) await post(grace, `below ${index}`);
	await page.getByRole('button', { name: '3 new ↓' }).click();
	await screen.message('below 2').waitFor();
	await eventually(async () => expect(await isAtEnd(screen)).toBe(true));
	await screen.expectExact();
});

test('messages marked unread stay unread after a reload, until the user leaves and returns', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	for (const text of ['one', 'two', 'three']) await post(grace, text);
	const screen = await show(ada);
	const unread = async () =>
		(await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount;
	await screen.open('harbour');
	await eventually(async () => expect(await unread()).toBe(0));
	await screen.choose(screen.message('two'), 'Mark unread from here');
	await eventually(async () => expect(await unread()).toBe(2));
	await screen.page.reload();
	await screen.message('three').waitFor();
	// Longer than automatic reading takes.
	await screen.page.mouse.move(500, 300);
	await screen.page.mouse.move(520, 320);
	await screen.page.waitForTimeout(1200);
	expect(await unread()).toBe(2);
	await screen.page.evaluate(`location.hash = '#/inbox'`);
	await screen.page.getByRole('main', { name: 'Inbox' }).waitFor();
	await screen.open('harbour');
	await eventually(async () => expect(await unread()).toBe(0));
	await screen.expectExact();
});

test('the inbox shows unread replies when every conversation is read', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	const root = await post(ada, 'a question');
	const screen = await show(ada);
	const { page } = screen;
	await page.evaluate(`location.hash = '#/inbox'`);
	const inbox = page.getByRole('main', { name: 'Inbox' });
	await inbox.getByText('Everything is read').waitFor();
	await post(grace, 'an answer', { thread_ts: root });
	await inbox.getByRole('link', { name: '1 unread reply in Threads' }).waitFor();
	expect(await inbox.getByText('Everything is read').count()).toBe(0);
	await inbox.getByLabel('Unread only').check();
	expect(await inbox.getByText('all caught up').count()).toBe(0);
	await inbox.getByRole('button', { name: 'Mark all as read' }).click();
	await inbox.getByText('Everything is read').waitFor();
	await post(grace, 'another answer', { thread_ts: root });
	await inbox.getByRole('link', { name: '1 unread reply in Threads' }).first().click();
	await page.getByRole('main', { name: 'Threads' }).getByText('another answer').waitFor();
	await screen.expectExact();
});

test('channels that the user is not in are found and previewed, archived ones too; leaving a private one asks', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const made = async (name: string, is_private = false) =>
		(await grace.call('conversations.create', { name, is_private })).channel.id as string;
	const lookout = await made('lookout');
	await grace.call('chat.postMessage', { channel: lookout, text: 'Seen from the tower' });
	const secret = await made('secret', true);
	await grace.call('conversations.invite', { channel: secret, users: ada.id });
	const { channel: old } = await ada.call('conversations.create', { name: 'old-things' });
	await ada.call('conversations.archive', { channel: old.id });
	const screen = await show(ada);
	const { page } = screen;
	const goTo = async (written: string, name: RegExp) => {
		await page.keyboard.press('Control+k');
		await page.getByRole('combobox', { name: 'A channel or a person' }).fill(written);
		await page.getByRole('option', { name }).click();
	};
	await goTo('look', /lookout/);
	await page.getByText('Seen from the tower').waitFor();
	await page.getByText('You are not in this channel.').waitFor();
	await page.getByRole('button', { name: 'Join' }).click();
	await page.locator('.pane .composer textarea').waitFor();
	await goTo('old', /old-things/);
	await page.getByRole('button', { name: 'Unarchive' }).click();
	await page.getByRole('main', { name: 'old-things' }).locator('.composer textarea').waitFor();
	await screen.open('secret');
	await page.getByRole('button', { name: 'Settings of this conversation' }).click();
	await page.getByRole('menuitem', { name: 'Add to favourites' }).click();
	const heading = (of: Screen) => of.page.locator('.side-heading button', { hasText: 'Favourites' });
	await heading(screen).waitFor();
	// Also on another device, in both directions.
	const other = await show(screen.person);
	await heading(other).click();
	await eventually(async () => expect(await heading(screen).getAttribute('aria-expanded')).toBe('false'));
	await heading(screen).click();
	await eventually(async () => expect(await heading(other).getAttribute('aria-expanded')).toBe('true'));
	await page.getByRole('button', { name: 'Settings of this conversation' }).click();
	await page.getByRole('menuitem', { name: 'Leave' }).click();
	await page.getByRole('dialog', { name: 'Leave #secret?' }).getByRole('button', { name: 'Stay' }).click();
	expect(await screen.row('secret').count()).toBe(1);
	await screen.expectExact();
});
