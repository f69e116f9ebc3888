import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { stage } from '../support/web/stage.ts';

/** Two devices of one person, and another person who writes to them. */

const here = stage();
const { scene, show } = here;

test('a message read on one device clears on the other; marked unread on one, it is unread on the other', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	const [laptop, phone] = [await show(ada), await show(ada, { viewport: { width: 390, height: 800 } })];
	await post(grace, `<@${ada.id}> one`);
	await post(grace, `<@${ada.id}> two`);
	await eventually(async () =>
		expect([await laptop.badgeOf('harbour'), await phone.badgeOf('harbour')]).toEqual(['2', '2']),
	);
	await laptop.expectExact();
	await phone.expectExact();
	await laptop.open('harbour');
	await eventually(async () => expect(await phone.badgeOf('harbour')).toBe(''));
	await laptop.expectExact();
	await phone.expectExact();

	// The laptop still shows the conversation: messages that the phone marks unread stay unread on both.
	await phone.open('harbour');
	await phone.choose(phone.message('two'), 'Mark unread from here');
	const unread = async (screen: typeof phone) =>
		(await screen.shown()).conversations.find(({ id }) => id === channel)?.unreadCount;
	await eventually(async () => expect([await unread(laptop), await unread(phone)]).toEqual([1, 1]));
	await Bun.sleep(300);
	expect([await unread(laptop), await unread(phone)]).toEqual([1, 1]);
	await laptop.page.getByRole('button', { name: /Mark as read/ }).click();
	await eventually(async () => expect([await unread(laptop), await unread(phone)]).toEqual([0, 0]));
	await laptop.expectExact();
	await phone.expectExact();
});

test('a message that arrives with the user’s attention is read on both devices; without attention, on none', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'before');
	const [laptop, phone] = [await show(ada), await show(ada)];
	await laptop.open('harbour');
	await eventually(async () =>
		expect((await phone.shown()).conversations.some((one) => one.hasUnreads)).toBe(false),
	);
	await post(grace, `<@${ada.id}> while you look`);
	await laptop.message('while you look').waitFor();
	await eventually(async () => expect((await phone.shown()).badge).toBe(0));
	await laptop.expectExact();
	await phone.expectExact();
	await laptop.row('Inbox').click();
	await post(grace, `<@${ada.id}> while you are elsewhere`);
	await eventually(async () =>
		expect([await laptop.badgeOf('harbour'), await phone.badgeOf('harbour')]).toEqual(['1', '1']),
	);
	await laptop.expectExact();
	await phone.expectExact();
});

test('on the page with two devices, a friend writes, one device reads, and the badge clears on the other', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	await grace.call('conversations.create', { name: 'a-place-of-her-own' });
	const { page, errors } = await show(ada);
	await page.goto(`${here.server.url}/devices#token=${ada.token}&friend=${grace.token}`);
	expect(page.url()).toBe(`${here.server.url}/devices`);
	const badges = async () => [
		await page.getByLabel('Badge of the laptop').innerText(),
		await page.getByLabel('Badge of the phone').innerText(),
	];
	await eventually(async () => expect(await badges()).toEqual(['0', '0']));
	expect(await page.locator('.friend option').allInnerTexts()).toEqual(['#harbour']);
	await page.getByRole('button', { name: 'Send and mention person-0' }).click();
	await page.getByText('Sent, with a mention of person-0.').waitFor();
	await eventually(async () => expect(await badges()).toEqual(['1', '1']));
	const phone = page.frameLocator('iframe[title=Phone]');
	await phone.locator('.side-row', { hasText: 'harbour' }).click();
	await phone.locator('article', { hasText: 'Have you seen this?' }).waitFor();
	await eventually(async () => expect(await badges()).toEqual(['0', '0']));
	expect(errors).toEqual([]);
});
