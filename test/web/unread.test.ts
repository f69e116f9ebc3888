import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { stage } from '../support/web/stage.ts';

/**
 * Unread messages as the user sees them, and everything that changes them. After every step the counts equal the
 * server's.
 */

const { scene, show } = stage();

test('a mention appears in the sidebar, the title and the icon, and opening the conversation reads it', async () => {
	const { people, channel, post } = await scene(3);
	const [ada, grace] = people;
	const screen = await show(ada);
	const plain = await screen.page.locator('link[rel=icon]').getAttribute('href');
	await post(grace, `<@${ada.id}> the ferry is late`);
	await screen.row('harbour').locator('.badge').waitFor();
	await screen.expectExact();
	expect(await screen.badgeOf('harbour')).toBe('1');
	expect(await screen.row('harbour').getAttribute('class')).toContain('unread');
	await eventually(async () =>
		expect(await screen.page.locator('link[rel=icon]').getAttribute('href')).toStartWith('data:image/png'),
	);
	await screen.open('harbour');
	await screen.page.locator('.new-divider').waitFor();
	await eventually(async () => expect(await screen.badgeOf('harbour')).toBe(''));
	await screen.expectExact();
	expect((await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount).toBe(0);
	expect(await screen.page.locator('link[rel=icon]').getAttribute('href')).toBe(plain);
});

test('messages that do not fit on the screen stay unread; the jump goes to the oldest', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	for (let index = 0; index < 150; index += 1) await post(grace, `<!channel> line ${index}`);
	const screen = await show(ada);
	expect(await screen.badgeOf('harbour')).toBe('99+');
	await screen.open('harbour');
	await screen.message('line 149').waitFor();
	await screen.expectExact();
	expect(await screen.badgeOf('harbour')).toBe('99+');
	await screen.page.getByRole('button', { name: /Jump to the oldest/ }).click();
	await screen.message('line 0').first().waitFor();
	await screen.page.locator('.new-divider').waitFor();
	await screen.expectExact();
	await screen.page.getByRole('button', { name: 'Latest messages' }).click();
	await screen.message('line 149').waitFor();
	await screen.expectExact();
	expect(await screen.badgeOf('harbour')).not.toBe('');
	await screen.page.keyboard.press('Escape');
	await eventually(async () => expect(await screen.badgeOf('harbour')).toBe(''));
	await screen.expectExact();
});

test('Mark unread from here marks unread, and Esc marks read', async () => {
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
	await screen.expectExact();
	// The user who marked it unread still looks at it: it stays unread.
	await screen.page.mouse.wheel(0, 50);
	await Bun.sleep(300);
	expect(await unread()).toBe(2);
	const divider = screen.page.locator('.timeline-row', { has: screen.page.locator('.new-divider') });
	expect(await divider.innerText()).toContain('two');
	await screen.choose(screen.message('two'), 'Mark read up to here');
	await eventually(async () => expect(await unread()).toBe(1));
	await screen.expectExact();
	await screen.page.keyboard.press('Escape');
	await eventually(async () => expect(await unread()).toBe(0));
	await screen.expectExact();
	expect(await screen.page.locator('.new-divider').count()).toBe(0);
});

test('Alt and arrows move between unread conversations, Shift+Esc marks all read', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const names = ['alpha', 'beta', 'gamma'];
	for (const name of names) {
		const { channel } = await grace.call('conversations.create', { name });
		await grace.call('conversations.invite', { channel: channel.id, users: ada.id });
		// More messages than fit on the screen, so that passing by does not read them.
		for (let index = 0; index < 40; index += 1)
			await grace.call('chat.postMessage', { channel: channel.id, text: `${name} ${index}` });
	}
	const screen = await show(ada);
	const heading = () => screen.page.locator('.pane-title h1').innerText();
	await screen.row('gamma').waitFor();
	await screen.page.keyboard.press('Alt+ArrowDown');
	await eventually(async () => expect(await heading()).toBe('gamma'));
	await screen.page.keyboard.press('Alt+ArrowDown');
	await eventually(async () => expect(await heading()).toBe('beta'));
	await screen.page.keyboard.press('Alt+ArrowDown');
	await eventually(async () => expect(await heading()).toBe('alpha'));
	await screen.page.keyboard.press('Alt+ArrowUp');
	await eventually(async () => expect(await heading()).toBe('beta'));
	await screen.expectExact();
	await screen.page.keyboard.press('Shift+Escape');
	await eventually(async () =>
		expect((await screen.shown()).conversations.some((one) => one.hasUnreads)).toBe(false),
	);
	await screen.expectExact();
	expect(await screen.page.locator('.side-row.unread').count()).toBe(0);
});

test('unread conversations are first; muted ones are dimmed, stay in their place and have no badge', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	await grace.call('conversations.create', { name: 'aaa' }).then(async ({ channel: other }) => {
		await grace.call('conversations.invite', { channel: other.id, users: ada.id });
	});
	const screen = await show(ada);
	await screen.open('harbour');
	await screen.page.getByRole('button', { name: 'Settings of this conversation' }).click();
	await screen.page.getByRole('menuitem', { name: 'Mute' }).click();
	await screen.page.locator('.side-row.muted').waitFor();
	await screen.row('Inbox').click();
	await post(grace, '<!channel> anybody?');
	await eventually(async () =>
		expect((await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount).toBe(1),
	);
	await screen.expectExact();
	expect(await screen.badgeOf('harbour')).toBe('');
	expect(await screen.page.locator('.side-heading').allInnerTexts()).not.toContain('Unread');
	await post(grace, `<@${ada.id}> you too`);
	await eventually(async () => expect(await screen.badgeOf('harbour')).toBe('1'));
	expect((await screen.page.locator('.side-heading, .side-list .side-row').first().innerText()).trim()).toBe(
		'Unread',
	);
	await screen.expectExact();
});

test('the open conversation keeps its place: a read one among the channels, an unread one on top until the user leaves it', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await ada.call('conversations.create', { name: 'pier' });
	await post(grace, 'first');
	const screen = await show(ada);
	// Repeated while rows are rendered: a row that is being replaced has no text.
	const expectSidebar = (...rows: string[]) =>
		eventually(async () =>
			expect(await screen.page.locator('.side-heading, .side-list .side-name').allInnerTexts()).toEqual(rows),
		);
	await expectSidebar('Unread', 'harbour', 'Channels', 'pier');
	await screen.open('harbour');
	await eventually(async () => expect(await screen.page.locator('.side-row.unread').count()).toBe(0));
	await expectSidebar('Unread', 'harbour', 'Channels', 'pier');
	await screen.open('pier');
	await expectSidebar('Channels', 'harbour', 'pier');
	await screen.open('harbour');
	await expectSidebar('Channels', 'harbour', 'pier');
	await screen.choose(screen.message('first'), 'Mark unread from here');
	await screen.page.locator('.side-row.unread').waitFor();
	await expectSidebar('Channels', 'harbour', 'pier');
	await screen.open('pier');
	await expectSidebar('Unread', 'harbour', 'Channels', 'pier');
	await screen.expectExact();
});

test('Why? lists the messages of the badge, each with its reason', async () => {
	const { people, post } = await scene(3);
	const [ada, grace] = people;
	await post(grace, `<@${ada.id}> the *bold* plan`);
	await post(grace, '<!channel> lunch');
	// Not on screen when the conversation opens, so that it is not read.
	for (let index = 0; index < 40; index += 1) await post(grace, `filler ${index}`);
	const screen = await show(ada);
	await screen.row('Mentions').click();
	const items = screen.page.locator('.explained').first().locator('li');
	await items.first().waitFor();
	expect(await items.count()).toBe(2);
	expect(await items.nth(0).innerText()).toContain('Mentions everybody');
	expect(await items.nth(1).innerText()).toContain('Mentions you');
	expect(await items.nth(1).innerText()).toContain('in #harbour');
	expect(await items.nth(1).locator('.message-text strong').innerText()).toBe('bold');
	await screen.expectExact();
	await screen.open('harbour');
	await screen.page.getByRole('button', { name: /Why\?/ }).click();
	const dialog = screen.page.getByRole('dialog', { name: 'Why does #harbour have a badge?' });
	await dialog.locator('.explained li').first().waitFor();
	expect(await dialog.innerText()).toContain('The badge counts 2 messages');
	await screen.page.keyboard.press('Escape');
	expect(await dialog.count()).toBe(0);
	// Esc closed the dialog, and marked nothing read.
	await screen.expectExact();
	expect(await screen.badgeOf('harbour')).toBe('2');
});

test('the inbox says No messages yet only of conversations without messages', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await ada.call('conversations.create', { name: 'empty' });
	await post(grace, 'The ferry is late');
	const { page } = await show(ada);
	const loading = Promise.withResolvers<void>();
	await page.route('**/api/inbox.list', async (route) => {
		await loading.promise;
		await route.continue();
	});
	await page.reload();
	const preview = (name: string) => page.locator('.inbox-item', { hasText: name }).locator('.inbox-preview');
	await preview('empty').waitFor();
	expect([await preview('harbour').innerText(), await preview('empty').innerText()]).toEqual([
		'…',
		'No messages yet',
	]);
	loading.resolve();
	await eventually(async () =>
		expect(await preview('harbour').innerText()).toBe('person-1: The ferry is late'),
	);
	expect(await preview('empty').innerText()).toBe('No messages yet');
});

test('the inbox has previews, and marks one conversation or all of them read', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	const { channel: dm } = await grace.call('conversations.open', { users: ada.id });
	await post(grace, 'The ferry is *late*');
	await grace.call('chat.postMessage', { channel: dm.id, text: 'Got a minute?' });
	const screen = await show(ada);
	await screen.row('Inbox').click();
	const items = screen.page.locator('.inbox-item');
	await eventually(async () => expect(await items.first().innerText()).toContain('person-1: Got a minute?'));
	expect(await items.nth(1).innerText()).toContain('The ferry is late');
	// In a direct message every message counts; inbox and sidebar use the same words.
	for (const badge of [items.first().locator('.badge'), screen.row('person-1').locator('.badge')])
		expect(await badge.innerText()).toContain('1 unread message');
	await items.nth(1).hover();
	await screen.page.getByRole('button', { name: 'Mark harbour as read' }).click();
	await eventually(async () => expect(await screen.page.locator('.inbox-item.unread').count()).toBe(1));
	await screen.expectExact();
	await screen.page.getByRole('button', { name: 'Mark all as read' }).click();
	await eventually(async () => expect(await screen.page.locator('.inbox-item.unread').count()).toBe(0));
	await screen.expectExact();
	await screen.page.getByLabel('Unread only').check();
	await screen.page.getByText('All caught up').waitFor();
	await screen.row('Mentions').click();
	await screen.page.getByText('You’re all caught up').waitFor();
});
