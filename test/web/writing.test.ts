import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Screen, tryNow } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Writing: nothing is lost, keys do what people expect, and text is rendered as meant. */

const here = stage();
const { scene, show } = here;

const box = (screen: Screen) => screen.page.locator('.pane .composer textarea');
const focused = (screen: Screen) =>
	screen.page.evaluate<string>(`document.activeElement.getAttribute('aria-label') ?? ''`);
/** The browser's own errors about failed requests are not the page's. */
const forgetNetwork = ({ errors }: Screen) =>
	errors.splice(0, errors.length, ...errors.filter((error) => !/net::ERR_|WebSocket/.test(error)));

test('an outage and a reload lose nothing: messages are sent once, drafts stay and are marked', async () => {
	const { people, channel } = await scene(2);
	const [ada, grace] = people;
	const { channel: other } = await ada.call('conversations.create', { name: 'quay' });
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('quay');
	await box(screen).fill('A thought that is not finished');
	await screen.open('harbour');
	await screen.row('quay').locator('.only-read-aloud', { hasText: 'draft' }).waitFor({ state: 'attached' });
	// The page sees no network: the banner appears within seconds.
	await page.route('**/api/**', (route) => route.abort());
	await page.context().setOffline(true);
	await page.getByText('Reconnecting…').waitFor();
	// Nobody is shown as active meanwhile.
	expect(await page.locator('.side-me small').innerText()).toBe('Offline');
	await screen.write('first of the outage');
	await screen.write('second of the outage');
	await page.getByText('2 messages not sent yet').waitFor();
	// The page is loaded again before the connection returns.
	await page.context().setOffline(false);
	await page.reload();
	await page.getByText('Connecting…', { exact: true }).waitFor();
	await page.unroute('**/api/**');
	await tryNow(page);
	for (const text of ['first', 'second'])
		await page.locator('article.sent', { hasText: `${text} of the outage` }).waitFor();
	await eventually(async () => expect(await page.getByText('connecting…').count()).toBe(0));
	const { messages } = await grace.call('conversations.history', { channel });
	expect(messages.map(({ text }: { text: string }) => text)).toEqual([
		'second of the outage',
		'first of the outage',
	]);
	await screen.open('quay');
	expect(await box(screen).inputValue()).toBe('A thought that is not finished');
	await box(screen).press('Enter');
	await screen.message('A thought that is not finished').waitFor();
	expect((await ada.call('conversations.history', { channel: other.id })).messages).toHaveLength(1);
	expect(
		await page.evaluate<string>(`Object.keys(localStorage).filter((k) => /unsent|draft/.test(k)).join()`),
	).toBe('');
	await screen.expectExact();
	forgetNetwork(screen);
});

test('the arrow up edits, letters go to the text box, dialogs return the focus, and Caps Lock changes nothing', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(ada, 'with a mistke');
	await post(grace, 'an answer');
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	await box(screen).press('ArrowUp');
	const edit = page.getByRole('textbox', { name: 'Edit message' });
	await edit.fill('with a mistake');
	await edit.press('Enter');
	await screen.message('with a mistake').getByText('(edited)').waitFor();
	await eventually(async () => expect(await focused(screen)).toBe('Message #harbour'));
	// Ctrl K with Caps Lock, and back to the text box.
	await page.keyboard.press('Control+K');
	await page.getByRole('dialog').waitFor();
	await page.keyboard.press('Escape');
	await eventually(async () => expect(await focused(screen)).toBe('Message #harbour'));
	await screen.message('an answer').click();
	await page.evaluate('document.activeElement.blur()');
	await page.keyboard.type('typed anywhere');
	expect(await box(screen).inputValue()).toBe('typed anywhere');
	await box(screen).press('Enter');
	await page.locator('.pane article.sent', { hasText: 'typed anywhere' }).waitFor();
	// The new row is under the resting pointer: browsers report that only when the pointer moves.
	await page.mouse.move(700, 40);
	// The user's own message cannot be unread, and there is nothing newer: the page says so.
	await screen.choose(screen.message('typed anywhere'), 'Mark unread from here');
	await page.getByText('There is nothing to mark unread').waitFor();
	await screen.expectExact();
});

test('keys pressed right after a completion land behind it, even if the page draws late', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(ada);
	await screen.open('harbour');
	await box(screen).pressSequentially(`Hello @${grace.name}`);
	await screen.page.locator('[role=option]').first().waitFor();
	await screen.page.evaluate(
		`window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 300)`,
	);
	await box(screen).press('Enter');
	await box(screen).pressSequentially('I am');
	// Longer than the delay of a frame.
	await Bun.sleep(400);
	await box(screen).pressSequentially(' here');
	expect(await box(screen).inputValue()).toEndWith(' I am here');
	await box(screen).fill('');
	// A space typed by habit is not a second one; further spaces are typed as usual.
	await box(screen).pressSequentially(`@${grace.name}`);
	await screen.page.locator('[role=option]').first().waitFor();
	await box(screen).press('Enter');
	await box(screen).pressSequentially(' and  so');
	expect(await box(screen).inputValue()).toBe(`@${grace.name} and  so`);
	await box(screen).fill('');
});

test('completion, lists, quotes, right-to-left text, folding, and a warning about people who are not in the channel', async () => {
	const { people, post } = await scene(3);
	const [ada, grace, linus] = people;
	const { channel: small } = await ada.call('conversations.create', { name: 'small' });
	await post(grace, 'שלום עולם');
	await post(grace, Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n'));
	await post(grace, 'Plan:\n- one\n- two\n&gt; as said');
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	await screen.message('as said').locator('blockquote').waitFor();
	expect(await screen.message('as said').locator('ul.part-list li').allInnerTexts()).toEqual(['one', 'two']);
	const direction = `[...document.querySelectorAll('.pane .message-text')]
		.filter((one) => one.textContent.includes('שלום')).map((one) => getComputedStyle(one).direction)[0]`;
	expect(await page.evaluate<string>(direction)).toBe('rtl');
	const long = screen.message('line 3');
	expect((await long.locator('.message-text').boundingBox())?.height).toBeLessThan(400);
	await long.getByRole('button', { name: 'Show the whole message' }).click();
	expect((await long.locator('.message-text').boundingBox())?.height).toBeGreaterThan(800);

	await page.evaluate(`location.hash = '#/c/${small.id}'`);
	await page.getByRole('main', { name: 'small' }).waitFor();
	await box(screen).pressSequentially('see #harb');
	await page.getByRole('option', { name: /#harbour/ }).click();
	await box(screen).pressSequentially(':tad');
	await page.getByRole('option', { name: /:tada:/ }).waitFor();
	await box(screen).press('Enter');
	expect(await box(screen).inputValue()).toBe('see #harbour :tada: ');
	await box(screen).pressSequentially(`@${grace.name} `);
	await page.getByText('is not in this channel and will not be notified').waitFor();
	await page.getByRole('button', { name: 'Add to the channel' }).click();
	await page.getByText('added to the channel').waitFor();
	await box(screen).press('Enter');
	const sent = screen.message('see #harbour 🎉');
	await sent.locator('a.mention', { hasText: '#harbour' }).waitFor();
	await eventually(async () => {
		const { badge } = await grace.call('client.counts');
		expect(badge).toBe(1);
	});
	// The warning also appears after a message was sent too fast for it.
	await box(screen).pressSequentially(`@${linus.name} hello`);
	await box(screen).press('Enter');
	await page.getByText('is not in this channel and was not notified').waitFor();
	await box(screen).fill('x'.repeat(40_010));
	await page.getByText('10 characters too long').waitFor();
	expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
	await box(screen).fill('');
});

test('a reaction is added and removed, and the other user sees it', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'react to this');
	const [left, right] = [await show(ada), await show(grace)];
	for (const screen of [left, right]) await screen.open('harbour');
	await left.message('react to this').hover();
	await left.page.getByRole('button', { name: 'Add a reaction' }).click();
	await left.page.getByRole('combobox', { name: 'Name of an emoji' }).fill('rocket');
	await left.page.keyboard.press('Enter');
	const chip = (screen: Screen) => screen.message('react to this').locator('.reaction');
	await chip(right).filter({ hasText: '1' }).click();
	await eventually(async () => expect(await chip(left).innerText()).toContain('🚀 2'));
	await chip(left).click();
	await eventually(async () => expect(await chip(right).innerText()).toContain('1'));
	expect(await chip(left).getAttribute('aria-pressed')).toBe('false');
});

test('a reaction of more users than the server lists can be added and removed', async () => {
	const { people, channel, post } = await scene(22);
	const [ada, grace, ...others] = people;
	const ts = await post(ada, 'react to this');
	const reacted = { channel, timestamp: ts, name: 'rocket' };
	for (const { call } of others) await call('reactions.add', reacted);
	await ada.call('reactions.add', reacted);
	const screen = await show(ada);
	await screen.open('harbour');
	const chip = screen.message('react to this').locator('.reaction');
	const expectShown = (count: number, isPressed: boolean) =>
		eventually(async () =>
			expect([await chip.innerText(), await chip.getAttribute('aria-pressed')]).toEqual([
				`🚀 ${count}`,
				String(isPressed),
			]),
		);
	await expectShown(21, true);
	await grace.call('reactions.add', reacted);
	await expectShown(22, true);
	await chip.click();
	await expectShown(21, false);
	await chip.click();
	await expectShown(22, true);
	await screen.page.reload();
	await expectShown(22, true);
});

test('while an input method is composing, its keys choose no suggestion', async () => {
	const { people } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	await screen.open('harbour');
	await box(screen).pressSequentially('@person-');
	await page.getByRole('option', { name: /person-1/ }).waitFor();
	await page.evaluate(`document.querySelector('.pane .composer textarea').dispatchEvent(
		new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`);
	expect(await box(screen).inputValue()).toBe('@person-');
	await page.keyboard.press('Enter');
	await eventually(async () => expect(await box(screen).inputValue()).toMatch(/^@person-\d $/));
	await box(screen).fill('');
});
