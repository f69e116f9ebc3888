import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import type { Screen } from '../support/web/screen.ts';
import { type Scene, stage } from '../support/web/stage.ts';

/** Only messages that a person saw are read: on screen, long enough, in the focused window of an active user. */

const { scene, show } = stage();

const unreadOf = async (screen: Screen, channel: string) =>
	(await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount ?? -1;

const expectUnread = (screen: Screen, channel: string, count: number) =>
	eventually(async () => expect(await unreadOf(screen, channel)).toBe(count));

async function postMany({ people, post }: Scene, count: number, word = 'line'): Promise<void> {
	for (let index = 0; index < count; index += 1) await post(people[1], `${word} ${index}`);
}

const hasDivider = async (screen: Screen, text: string) => {
	const row = screen.page.locator('.timeline-row', { has: screen.page.locator('.new-divider') });
	expect(await row.innerText()).toContain(text);
};

test('a channel that is open on an idle computer reads nothing until its user returns', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'before');
	const screen = await show(ada);
	await screen.page.clock.install();
	await screen.page.reload();
	await screen.open('harbour');
	await expectUnread(screen, channel, 0);
	await screen.page.clock.fastForward('03:00');
	await post(grace, `<@${ada.id}> is anybody there?`);
	await screen.message('is anybody there?').waitFor();
	await screen.page.clock.fastForward('00:10');
	await eventually(async () => expect(await screen.badgeOf('harbour')).toBe('1'));
	await screen.expectExact();
	await hasDivider(screen, 'is anybody there?');
	await screen.page.mouse.move(500, 300);
	await screen.page.mouse.move(520, 310);
	await expectUnread(screen, channel, 0);
	await screen.expectExact();
});

test('a window without the keyboard focus reads nothing', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'before');
	const screen = await show(ada);
	await screen.open('harbour');
	await expectUnread(screen, channel, 0);
	const setFocus = (has: boolean) =>
		screen.page.evaluate(
			`document.hasFocus = () => ${has}; dispatchEvent(new Event(${has} ? 'focus' : 'blur'))`,
		);
	await setFocus(false);
	await post(grace, 'behind another window');
	await screen.message('behind another window').waitFor();
	await Bun.sleep(1_000);
	expect(await unreadOf(screen, channel)).toBe(1);
	await setFocus(true);
	await screen.page.mouse.move(500, 300);
	await screen.page.mouse.move(520, 310);
	await expectUnread(screen, channel, 0);
});

test('after an outage only the missed messages on screen are read, below a divider', async () => {
	const here = await scene(2);
	const { people, channel, post } = here;
	const [ada, grace] = people;
	await post(grace, 'before');
	const screen = await show(ada);
	const { page } = screen;
	const sockets: { close(options: { code: number }): Promise<void> }[] = [];
	await page.routeWebSocket(/./, (socket) => {
		socket.connectToServer();
		sockets.push(socket);
	});
	await page.reload();
	await screen.open('harbour');
	await expectUnread(screen, channel, 0);
	const duringOutage = async (work: () => Promise<void>) => {
		await page.route('**/api/rtm.connect', (route) => route.abort());
		for (const socket of sockets.splice(0)) await socket.close({ code: 4000 });
		await page.getByText('Reconnecting').waitFor();
		await work();
		await page.unroute('**/api/rtm.connect');
		await page.getByText('Reconnecting').waitFor({ state: 'detached' });
		// The browser's errors about requests that failed in the outage.
		screen.errors.splice(0);
	};
	await duringOutage(() => postMany(here, 3, 'few'));
	await screen.message('few 2').waitFor();
	await hasDivider(screen, 'few 0');
	await expectUnread(screen, channel, 0);

	await duringOutage(() => postMany(here, 80, 'missed'));
	await screen.message('missed 79').waitFor();
	await eventually(async () => expect(await unreadOf(screen, channel)).toBeLessThan(80));
	await Bun.sleep(1_000);
	const left = await unreadOf(screen, channel);
	expect(left).toBeGreaterThan(20);
	await screen.expectExact();
	const { messages } = await ada.call('conversations.unreads', { channel, limit: 1000 });
	expect(messages).toHaveLength(left);
	await page.getByRole('button', { name: /Jump to the oldest/ }).click();
	await screen.message(messages[0].text).first().waitFor();
	await hasDivider(screen, messages[0].text);
});

test('messages between the oldest and the newest stay unread when the user jumps over them', async () => {
	const here = await scene(2);
	const { people, channel } = here;
	const [ada] = people;
	await postMany(here, 150);
	const screen = await show(ada);
	await screen.open('harbour');
	await screen.message('line 149').waitFor();
	// The last screen is read message by message.
	await eventually(async () => expect(await unreadOf(screen, channel)).toBeLessThan(150));
	await screen.page.getByRole('button', { name: /Jump to the oldest/ }).click();
	await screen.message('line 0').first().waitFor();
	await eventually(async () =>
		expect((await screen.shown()).conversations.find(({ id }) => id === channel)?.lastRead).not.toStartWith(
			'0000',
		),
	);
	await screen.page.getByRole('button', { name: /↓/ }).click();
	await screen.message('line 149').waitFor();
	await Bun.sleep(1_000);
	const left = await unreadOf(screen, channel);
	expect(left).toBeGreaterThan(80);
	await screen.expectExact();
	// The jump goes to the first skipped message.
	await screen.page.getByRole('button', { name: /Jump to the oldest/ }).click();
	const { messages } = await ada.call('conversations.unreads', { channel, limit: 1000 });
	expect(messages).toHaveLength(left);
	await screen.message(messages[0].text).first().waitFor();
	await hasDivider(screen, messages[0].text);
});

test('scrolling reads messages, and read messages stay read after a reload', async () => {
	const here = await scene(2);
	const { people, channel } = here;
	const [ada] = people;
	await postMany(here, 120);
	const screen = await show(ada);
	await screen.open('harbour');
	await screen.page.getByRole('button', { name: /Jump to the oldest/ }).click();
	await screen.message('line 0').first().waitFor();
	await screen.page.locator('.timeline').hover();
	const lastRead = async () =>
		(await screen.shown()).conversations.find(({ id }) => id === channel)?.lastRead ?? '';
	for (let turn = 0; turn < 4; turn += 1) {
		const before = await lastRead();
		await eventually(async () => {
			await screen.page.mouse.wheel(0, 100);
			await Bun.sleep(600);
			expect((await lastRead()) > before).toBe(true);
		});
	}
	await screen.expectExact();
	await screen.row('Inbox').click();
	const left = await unreadOf(screen, channel);
	expect(left).toBeGreaterThan(20);
	await screen.page.reload();
	await screen.page.locator('.side-me').waitFor({ state: 'attached' });
	expect(await unreadOf(screen, channel)).toBe(left);
	await screen.expectExact();
});

test('a long thread opens at its oldest unread reply, and only seen replies are read', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	const root = await post(ada, 'root');
	for (let index = 0; index < 60; index += 1) await post(grace, `reply ${index}`, { thread_ts: root });
	const screen = await show(ada);
	await screen.open('harbour');
	const panel = screen.page.locator('.thread-panel');
	// The list may scroll between the two halves of a click, which then hits neither target.
	await eventually(async () => {
		if ((await panel.count()) === 0) await screen.page.locator('.thread-line').first().click();
		await panel.waitFor({ timeout: 5_000 });
	}, 60_000);
	await panel.locator('article', { hasText: 'reply 0' }).first().waitFor();
	await panel.locator('.new-divider').waitFor();
	const unread = async () => (await screen.shown()).threads.unreadCount;
	await eventually(async () => expect(await unread()).toBeLessThan(60));
	await Bun.sleep(1_000);
	expect(await unread()).toBeGreaterThan(20);
	await screen.expectExact();
	await panel.locator('.timeline').hover();
	await eventually(async () => {
		await screen.page.mouse.wheel(0, 300);
		await Bun.sleep(700);
		expect(await unread()).toBe(0);
	}, 30_000);
	await screen.expectExact();
});

test('replies that the user sees arrive in an open thread get no divider; after an outage they do', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	const root = await post(ada, 'root');
	await post(grace, 'reply 0', { thread_ts: root });
	const screen = await show(ada);
	const { page } = screen;
	const sockets: { close(options: { code: number }): Promise<void> }[] = [];
	await page.routeWebSocket(/./, (socket) => {
		socket.connectToServer();
		sockets.push(socket);
	});
	await page.reload();
	await screen.open('harbour');
	await page.locator('.thread-line').first().click();
	const panel = page.locator('.thread-panel');
	const allRead = () =>
		eventually(async () => {
			const { unread_count } = await ada.call('subscriptions.thread.get', { channel, thread_ts: root });
			expect(unread_count).toBe(0);
		});
	const divided = panel.locator('.timeline-row', { has: page.locator('.new-divider') });
	await divided.filter({ hasText: 'reply 0' }).waitFor();
	await allRead();
	// Every row that had the divider while replies arrived.
	await page.evaluate(`globalThis.divided = new Set();
		new MutationObserver(() => {
			const row = document.querySelector('.thread-panel .timeline-row:has(.new-divider)');
			if (row) divided.add(row.innerText.match(/reply \\d/)[0]);
		}).observe(document.querySelector('.thread-panel'), { childList: true, subtree: true })`);
	for (const text of ['reply 1', 'reply 2', 'reply 3']) {
		await post(grace, text, { thread_ts: root });
		await panel.locator('article', { hasText: text }).waitFor();
		await allRead();
	}
	expect(await page.evaluate<string[]>('[...divided]')).toEqual(['reply 0']);
	await page.route('**/api/rtm.connect', (route) => route.abort());
	for (const socket of sockets.splice(0)) await socket.close({ code: 4000 });
	await page.getByText('Reconnecting').waitFor();
	await post(grace, 'reply 4', { thread_ts: root });
	await page.unroute('**/api/rtm.connect');
	await divided.filter({ hasText: 'reply 4' }).waitFor();
	await allRead();
	// The browser's errors about requests that failed in the outage.
	screen.errors.splice(0);
});

test('the list stays at its end while messages arrive fast, until the user scrolls up', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'before');
	const screen = await show(ada);
	await screen.open('harbour');
	const burst = async (word: string) => {
		for (let from = 0; from < 120; from += 10)
			await Promise.all(
				Array.from({ length: 10 }, (_, at) =>
					post(grace, `${word} ${from + at} ${'with more words '.repeat(at * 5)}`),
				),
			);
		await post(grace, `${word} is over`);
	};
	const fromEnd = () =>
		screen.page.evaluate<number>(`(() => {
			const { scrollTop, clientHeight, scrollHeight } = document.querySelector('.timeline');
			return scrollHeight - scrollTop - clientHeight;
		})()`);
	await burst('first');
	await screen.message('first is over').waitFor();
	await eventually(async () => expect(await fromEnd()).toBeLessThan(9));
	await screen.page.locator('.timeline').hover();
	await eventually(async () => {
		await screen.page.mouse.wheel(0, -200);
		expect(await fromEnd()).toBeGreaterThan(300);
	});
	await burst('second');
	await screen.shown();
	expect(await fromEnd()).toBeGreaterThan(1_000);
});
