import { expect, test } from 'bun:test';
import { client } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { stage } from '../support/web/stage.ts';

/** Two people write to each other. */

const on = stage();
const { scene, show } = on;

test('posting, mentioning by completion, editing and deleting reach the other user at once', async () => {
	const { people } = await scene(3);
	const [ada, grace] = people;
	const [left, right] = [await show(ada), await show(grace)];
	await left.open('harbour');
	await right.row('Inbox').click();
	await left.write('Good morning');
	await left.page.locator('article.sent', { hasText: 'Good morning' }).waitFor();
	await eventually(async () => expect(await right.row('harbour').getAttribute('class')).toContain('unread'));
	await right.expectExact();

	const box = left.page.locator('.composer textarea');
	await box.pressSequentially('@person-1');
	await left.page.getByRole('option', { name: /@person-1/ }).waitFor();
	await box.press('Enter');
	await box.pressSequentially('have you read `@person-2`?');
	await box.press('Enter');
	await eventually(async () => expect(await right.badgeOf('harbour')).toBe('1'));
	await right.expectExact();
	await left.expectExact();

	await right.open('harbour');
	expect(await right.message('have you read').locator('.mention.me').innerText()).toBe('@person-1');
	expect(await right.message('have you read').locator('code').innerText()).toBe('@person-2');
	await eventually(async () => expect(await right.badgeOf('harbour')).toBe(''));

	const mine = left.message('Good morning');
	await mine.hover();
	await mine.getByRole('button', { name: 'Edit message' }).click();
	const edit = left.page.getByRole('textbox', { name: 'Edit message' });
	await edit.fill('Good evening');
	await edit.press('Enter');
	await right.message('Good evening').getByText('(edited)').waitFor();
	await left.expectExact();

	await left.choose(left.message('Good evening'), 'Delete…');
	await left.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(async () => expect(await right.message('Good evening').count()).toBe(0));
	await left.expectExact();
	await right.expectExact();
});

test('a bot’s message shows the name and emoji that it was posted with', async () => {
	const { people, channel } = await scene(2);
	const [ada] = people;
	const admin = client(on.server.url, ADMIN_TOKEN);
	const { team_id } = await ada.call('auth.test');
	const { user } = await admin('admin.users.create', { team_id, name: 'alerts', is_bot: true });
	const { token } = await admin('admin.tokens.create', { user_id: user.id });
	await ada.call('conversations.invite', { channel, users: user.id });
	const bot = client(on.server.url, token);
	await bot('chat.postMessage', { channel, text: 'Plain' });
	await bot('chat.postMessage', {
		channel,
		text: 'Disk is full',
		username: 'Disk watch',
		icon_emoji: ':fire:',
	});
	await ada.call('chat.meMessage', { channel, text: 'waves' });
	const screen = await show(ada);
	await screen.open('harbour');
	const shown = screen.message('Disk is full');
	await shown.waitFor();
	expect(await shown.locator('.message-author').innerText()).toBe('Disk watch');
	expect(await shown.locator('.avatar').innerText()).toBe('🔥');
	expect(await screen.message('Plain').locator('.message-author').innerText()).toBe('alerts');
	expect(await screen.message('waves').locator('.about-author').count()).toBe(1);
});

test('HTML in a message is shown as text, and links are links', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(
		grace,
		'&lt;img src=x onerror=alert(1)&gt; <script>alert(2)</script> <https://example.com/a?b=1&amp;c=2|a page>',
	);
	await post(grace, '<javascript:alert(3)|nothing> *bold* _slanted_ ~gone~ ```\nlet x = 1 &lt; 2;\n```');
	const screen = await show(ada);
	await screen.open('harbour');
	const first = screen.message('onerror');
	expect(await first.locator('img, script').count()).toBe(0);
	expect(await first.locator('a').getAttribute('href')).toBe('https://example.com/a?b=1&c=2');
	const second = screen.message('slanted');
	expect(await second.locator('a').count()).toBe(0);
	expect(await second.locator('strong:not(.message-author), em, s').allInnerTexts()).toEqual([
		'bold',
		'slanted',
		'gone',
	]);
	expect(await second.locator('pre').innerText()).toBe('let x = 1 < 2;');
});

test('blocks replace the text, attachments are below; lists show one line; nothing is loaded from other hosts', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	const image = { type: 'image', image_url: 'https://elsewhere.invalid/a.png', alt_text: 'a boat' };
	await post(grace, 'only for lists', {
		blocks: [
			{ type: 'header', text: { type: 'plain_text', text: 'Deploy 7' } },
			{ type: 'section', text: { type: 'mrkdwn', text: `*done* by <@${ada.id}>` }, accessory: image },
		],
	});
	const { channel: dm } = await grace.call('conversations.open', { users: ada.id });
	await grace.call('chat.postMessage', {
		channel: dm.id,
		attachments: [
			{ color: '#112233', title: 'Build 7', title_link: 'javascript:alert(1)', text: 'is `green`' },
		],
	});
	const screen = await show(ada);
	const { page } = screen;
	await page.locator('.inbox-preview', { hasText: 'only for lists' }).waitFor();
	await page.locator('.inbox-preview', { hasText: 'Build 7 is green' }).waitFor();
	await screen.row('Mentions').click();
	await page.locator('.explained code', { hasText: 'green' }).waitFor();

	await page.evaluate(`location.hash = '#/c/${channel}'`);
	const first = screen.message('Deploy 7');
	await first.waitFor();
	expect(await first.innerText()).not.toContain('only for lists');
	expect(await first.locator('.mention.me').innerText()).toBe('@person-0');
	expect(await first.locator('a').getAttribute('href')).toBe('https://elsewhere.invalid/a.png');
	await page.evaluate(`location.hash = '#/c/${dm.id}'`);
	const card = screen.message('Build 7').locator('.card');
	await card.waitFor();
	expect(await card.locator('a').count()).toBe(0);
	expect(
		await page.evaluate<string>(`getComputedStyle(document.querySelector('.card')).borderLeftColor`),
	).toBe('rgb(17, 34, 51)');
	expect(screen.addresses.filter((address) => address.includes('elsewhere'))).toEqual([]);
});

test('continued messages with AM and PM, and long names in the text box, stay on one line', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const { channel } = await grace.call('conversations.create', { name: 'long-'.repeat(16) });
	await grace.call('conversations.invite', { channel: channel.id, users: ada.id });
	for (const text of ['one', 'two :tada:', 'three'])
		await grace.call('chat.postMessage', { channel: channel.id, text });
	const { page } = await show(ada, { locale: 'en-US', viewport: { width: 390, height: 780 } });
	await page.evaluate(`location.hash = '#/c/${channel.id}'`);
	await page.locator('article', { hasText: 'two 🎉' }).waitFor();
	const heights = await page.evaluate<number[]>(
		`[...document.querySelectorAll('article.continued, .write-box textarea')].map((one) => one.offsetHeight)`,
	);
	expect(heights.length).toBe(3);
	for (const height of heights) expect(height).toBeLessThanOrEqual(40);
	const follower = page.locator('article.continued').first();
	await follower.hover();
	expect(await follower.locator('time').innerText()).toMatch(/^\d+:\d\d$/);
	expect((await follower.boundingBox())?.height).toBeLessThan(35);
	expect(await page.locator('article:not(.continued) time').first().innerText()).toMatch(/ [AP]M$/);
});

test('a thread can be replied to, counted, read, marked unread and found in Threads', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const [left, right] = [await show(ada), await show(grace)];
	await left.open('harbour');
	await left.write('Shall we sail?');
	await right.open('harbour');
	const root = right.message('Shall we sail?');
	await root.hover();
	await root.getByRole('button', { name: 'Reply in thread' }).click();
	const reply = right.page.getByRole('textbox', { name: 'Reply in thread' });
	await reply.fill('Yes, @person-0, today');
	await reply.press('Enter');
	await eventually(async () => expect(await left.badgeOf('Threads')).toBe('1'));
	await left.expectExact();
	await left.message('Shall we sail?').getByText('1 reply').waitFor();

	await left.row('Threads').click();
	const card = left.page.locator('.thread-card.unread');
	expect(await card.innerText()).toContain('1 new reply');
	await card.getByRole('button', { name: 'Open thread' }).click();
	const panel = left.page.getByRole('complementary', { name: 'Thread' });
	await panel.locator('article', { hasText: 'today' }).waitFor();
	expect(await panel.locator('.pane-title p').innerText()).toBe('#harbour');
	expect(await panel.locator('.replies-divider').innerText()).toBe('1 reply');
	// The thread begins at the top, with its root.
	const [first, list] = [
		await panel.locator('article').first().boundingBox(),
		await panel.locator('.timeline').boundingBox(),
	];
	expect((first?.y ?? 1e6) - (list?.y ?? 0)).toBeLessThan(60);
	await eventually(async () => expect(await left.badgeOf('Threads')).toBe(''));
	await left.expectExact();

	const answer = panel.locator('article', { hasText: 'today' });
	await left.choose(answer, 'Mark unread from here');
	await eventually(async () => expect(await left.badgeOf('Threads')).toBe('1'));
	await left.expectExact();
	await panel.getByRole('textbox').focus();
	await left.page.keyboard.press('Escape');
	await eventually(async () => expect(await panel.count()).toBe(0));
	await eventually(async () => expect(await left.badgeOf('Threads')).toBe(''));
	await left.expectExact();
	await right.expectExact();
});

test('typing, presence and readers are shown', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const { channel: dm } = await ada.call('conversations.open', { users: grace.id });
	await grace.call('chat.postMessage', { channel: dm.id, text: 'Hello' });
	const left = await show(ada);
	await left.open('person-1');
	expect(await left.page.locator('.pane-title p').innerText()).toBe('Away');
	const right = await show(grace);
	await eventually(async () => expect(await left.page.locator('.pane-title p').innerText()).toBe('Active'));
	await right.open('person-0');
	await right.page.locator('.composer textarea').pressSequentially('I am…');
	await left.page.getByText('person-1 is typing…').waitFor();
	await right.page.locator('.composer textarea').press('Enter');
	await left.message('I am…').waitFor();
	await eventually(async () => expect(await left.page.getByText('is typing').count()).toBe(0));
	await left.expectExact();
	await eventually(async () => expect(await left.badgeOf('person-1')).toBe(''));
	// The list of readers does not include the user who asks.
	await left.choose(left.message('I am…'), 'Who has read this');
	await left.page.getByText('Nobody else has read it yet.').waitFor();
	await right.choose(right.message('I am…'), 'Who has read this');
	const dialog = right.page.getByRole('dialog', { name: 'Who has read this' });
	await dialog.getByText('Read by 1 person').waitFor();
	expect(await dialog.locator('li').allInnerTexts()).toEqual(['P0\nperson-0']);
});

test('a rejected message stays, with the reason', async () => {
	const { people, channel } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(ada);
	await screen.open('harbour');
	await screen.page.locator('.composer textarea').fill('Too late?');
	await screen.page.route('**/api/chat.postMessage', (route) =>
		route.fulfill({ json: { ok: false, error: 'is_archived' } }),
	);
	await screen.page.locator('.composer textarea').press('Enter');
	await screen.page.getByText('Not sent. This conversation is archived.').waitFor();
	await screen.page.unroute('**/api/chat.postMessage');
	await screen.page.getByRole('button', { name: 'Send again' }).click();
	await screen.page.locator('article.sent', { hasText: 'Too late?' }).waitFor();
	const { messages } = await grace.call('conversations.history', { channel });
	expect(messages.map(({ text }: { text: string }) => text)).toEqual(['Too late?']);
	await screen.expectExact();
});

test('a message that appears under a resting pointer shows its actions when the pointer moves', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'under the pointer');
	const screen = await show(ada);
	await screen.open('harbour');
	// As browsers do: the pointer moves on the message without having entered it.
	await screen.page.mouse.move(10, 10);
	await screen.message('under the pointer').dispatchEvent('pointermove', { bubbles: true });
	await screen.message('under the pointer').getByRole('button', { name: 'Reply in thread' }).waitFor();
});

test('text can be copied without https, where pages have no clipboard', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'to be copied');
	const screen = await show(ada, { permissions: ['clipboard-read'] });
	const { page } = screen;
	const clipboard = await page.evaluateHandle('navigator.clipboard');
	await page.evaluate(
		`Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })`,
	);
	await screen.open('harbour');
	await screen.choose(screen.message('to be copied'), 'Copy text');
	await page.getByText('Copied.').waitFor();
	expect(await clipboard.evaluate<string>((one) => (one as { readText(): string }).readText())).toBe(
		'to be copied',
	);
});

test('a view that fails to render leaves the rest of the page, and can be tried again', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'Good evening');
	const screen = await show(ada);
	const { page } = screen;
	await page.route('**/api/conversations.history*', async (route) => {
		const response = await route.fetch();
		const answer = await response.json();
		for (const message of answer.messages) message.text = 5;
		await route.fulfill({ response, json: answer });
	});
	await screen.row('harbour').click();
	await page.getByText('This view has failed').waitFor();
	await screen.row('Inbox').click();
	await page.getByText('This view has failed').waitFor({ state: 'detached' });
	await page.unroute('**/api/conversations.history*');
	await page.reload();
	await screen.open('harbour');
	await screen.message('Good evening').waitFor();
	// React reports the error on the console.
	screen.errors.length = 0;
});
