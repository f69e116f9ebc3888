import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { client } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { Person } from '../support/people.ts';
import { stage } from '../support/web/stage.ts';

/** Finding, creating and changing conversations, by keyboard where there is a list. */

const here = stage();
const { scene, show } = here;

const heading = (page: Page) => page.locator('.pane-title h1').innerText();
const options = (page: Page) => page.getByRole('option').allInnerTexts();
const chosen = (page: Page) => page.locator('[role=option][aria-selected=true]').innerText();

test('New conversation lists people before channels; arrows move, Enter chooses, and one Esc closes', async () => {
	const { people } = await scene(3);
	const [ada, grace] = people;
	await grace.call('conversations.create', { name: 'person-1-fans' });
	const screen = await show(ada);
	const { page } = screen;
	await page.getByRole('button', { name: 'New conversation' }).click();
	await page
		.getByRole('option', { name: /person-1/ })
		.first()
		.waitFor();
	await page.keyboard.type('person-1');
	await eventually(async () =>
		expect((await options(page)).map((text) => text.replace(/\s+/g, ' '))).toEqual([
			'P1 person-1 @person-1',
			'person-1-fans 1 member, not joined',
			'Create the channel #person-1',
		]),
	);
	expect(await chosen(page)).toContain('@person-1');
	await page.keyboard.press('ArrowDown');
	expect(await chosen(page)).toContain('person-1-fans');
	await page.keyboard.press('Escape');
	await eventually(async () => expect(await page.locator('dialog').count()).toBe(0));
	await page.getByRole('button', { name: 'New conversation' }).click();
	await page.keyboard.type('person-2');
	await page.getByRole('option', { name: /@person-2/ }).waitFor();
	await page.keyboard.press('Enter');
	await page.getByText('Write the first message to person-2.').waitFor();
	// A new, empty conversation is not unread.
	expect(await page.locator('.side-heading').allInnerTexts()).toEqual(['Channels', 'Direct messages']);
	await screen.expectExact();
});

test('a new channel: spaces become hyphens, an invalid name is explained, and a private channel is private', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(ada);
	const { page } = screen;
	await page.getByRole('button', { name: 'New conversation' }).click();
	const box = page.getByRole('combobox', { name: 'A person, or the name of a channel' });
	await box.fill('Bad Name!! With Spaces');
	await page.getByText('A channel name may contain only letters, digits, - and _.').waitFor();
	await box.fill('x'.repeat(81));
	await page.getByText('A channel name has at most 80 characters.').waitFor();
	await box.fill('x'.repeat(80));
	await page.getByRole('option', { name: /Create the channel/ }).waitFor();
	const overflow = `[...document.querySelectorAll('.choices, .dialog-body')].map((one) => one.scrollWidth - one.clientWidth)`;
	expect(await page.evaluate<number[]>(overflow)).toEqual([0, 0]);
	await box.fill('Fleet  Meeting');
	await page.getByLabel(/^Private/).check();
	await box.focus();
	await page.getByRole('option', { name: 'Create the private channel #fleet-meeting' }).waitFor();
	await page.keyboard.press('Enter');
	await page.getByText('Write the first message in #fleet-meeting.').waitFor();
	const { channels } = await ada.call('conversations.list', { types: 'private_channel' });
	expect(channels.map(({ name }: { name: string }) => name)).toEqual(['fleet-meeting']);
	expect((await grace.call('conversations.list', { types: 'private_channel' })).channels).toEqual([]);
	// Enter creates the channel from the checkbox too.
	await page.getByRole('button', { name: 'New conversation' }).click();
	await box.fill('Crew only');
	await page.getByLabel(/^Private/).check();
	await page.keyboard.press('Enter');
	await page.getByText('Write the first message in #crew-only.').waitFor();
	expect((await grace.call('conversations.list', { types: 'private_channel' })).channels).toEqual([]);
});

test('New conversation shows that the name of an archived channel is taken, and opens the channel', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const { channel } = await grace.call('conversations.create', { name: 'old-pier' });
	await grace.call('conversations.archive', { channel: channel.id });
	const find = async (person: Person, hint: string) => {
		const { page } = await show(person);
		await page.getByRole('button', { name: 'New conversation' }).click();
		await page.getByRole('combobox').first().fill('Old Pier');
		await page.getByRole('option', { name: `old-pier archived: ${hint}` }).click();
		return page;
	};
	const other = await find(ada, 'a member can unarchive it');
	await other.getByText('This conversation is archived. A member can unarchive it.').waitFor();
	const member = await find(grace, 'open it to unarchive it');
	await member.getByRole('button', { name: 'Unarchive' }).waitFor();
});

test('a direct message offers no notifications for mentions only, because every message notifies', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const { channel } = await ada.call('conversations.open', { users: grace.id });
	await ada.call('conversations.setNotifications', { channel: channel.id, level: 'mentions' });
	const screen = await show(ada);
	const levels = async () => {
		await screen.page.getByRole('button', { name: 'Settings of this conversation' }).click();
		const items = screen.page.getByRole('menuitemradio');
		await items.first().waitFor();
		const chosen = screen.page.getByRole('menuitemradio', { checked: true });
		const shown = { all: await items.allInnerTexts(), chosen: await chosen.allInnerTexts() };
		await screen.page.keyboard.press('Escape');
		await items.first().waitFor({ state: 'hidden' });
		return shown;
	};
	await screen.open(grace.name);
	const [all, mentions, none] = [
		'Notify me about every message',
		'Notify me about mentions and threads I follow',
		'Never notify me',
	];
	expect(await levels()).toEqual({ all: [all, none], chosen: [all] });
	await screen.open('harbour');
	expect(await levels()).toEqual({ all: [all, mentions, none], chosen: [all] });
});

test('every channel of a large workspace can be found and joined', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	// More than one page of conversations.list.
	await Promise.all(
		Array.from({ length: 210 }, (_, index) =>
			grace.call('conversations.create', { name: `berth-${String(index).padStart(3, '0')}` }),
		),
	);
	const { page } = await show(ada);
	await page.getByRole('button', { name: 'New conversation' }).click();
	for (const name of ['berth-000', 'berth-209']) {
		await page.getByRole('combobox').first().fill(name);
		await page.getByRole('option', { name: `${name} 1 member` }).waitFor();
	}
	await page.keyboard.press('Enter');
	await eventually(async () => expect(await heading(page)).toBe('berth-209'));
});

test('Go to… also finds people without a conversation; one Esc closes it; its top stays in place', async () => {
	const { people } = await scene(3);
	const [ada] = people;
	const { page } = await show(ada);
	// With Shift, the keys belong to the browser.
	await page.keyboard.press('Control+Shift+K');
	expect(await page.locator('dialog[open]').count()).toBe(0);
	await page.keyboard.press('Control+k');
	const dialog = page.getByRole('dialog', { name: 'Go to…' });
	const box = page.getByRole('combobox', { name: 'A channel or a person' });
	await page.getByRole('option', { name: /@person-2/ }).waitFor();
	const before = await dialog.boundingBox();
	await box.fill('zzz');
	await page.getByRole('option', { name: 'Search messages for “zzz”' }).waitFor();
	expect(await dialog.boundingBox()).toEqual(before);
	await page.keyboard.press('Escape');
	await eventually(async () => expect(await page.locator('dialog').count()).toBe(0));
	await page.keyboard.press('Control+k');
	await box.fill('person-2');
	await page.getByRole('option', { name: /@person-2/ }).waitFor();
	await page.keyboard.press('Enter');
	await eventually(async () => expect(await heading(page)).toBe('person-2'));
});

test('Members lists who is active, adds a person, changes topic and name for everybody, and leaves', async () => {
	const { people, channel } = await scene(3);
	const [ada, grace, linus] = people;
	const { channel: made } = await ada.call('conversations.create', { name: 'pier' });
	await ada.call('conversations.invite', { channel: made.id, users: grace.id });
	const [screen, other] = [await show(ada), await show(grace)];
	const { page } = screen;
	await other.open('pier');
	await screen.open('pier');
	await page.getByRole('button', { name: 'Members' }).click();
	const dialog = page.getByRole('dialog', { name: '#pier' });
	await dialog.getByText('2 members').waitFor();
	await eventually(async () =>
		expect(await dialog.locator('.person').allInnerTexts()).toEqual([
			'person-0 you\n@person-0 · Active',
			'person-1\n@person-1 · Active',
		]),
	);
	await dialog.getByRole('button', { name: 'Add people' }).click();
	await page.getByRole('combobox', { name: 'Person to add' }).waitFor();
	await eventually(async () => expect((await options(page)).length).toBe(1));
	await page.keyboard.press('Enter');
	await page.getByText('person-2 was added.').waitFor();
	await page.getByText('Everybody is already a member.').waitFor();
	await page.getByRole('button', { name: 'Done' }).click();
	await dialog.getByText('3 members').waitFor();
	const { members } = await linus.call('conversations.members', { channel: made.id });
	expect(members).toContain(linus.id);

	await dialog.getByRole('button', { name: 'Edit the topic' }).click();
	await page.keyboard.type('Ropes');
	await page.keyboard.press('Escape');
	// Esc ends editing without closing the dialog, and saves nothing.
	await dialog.getByText('What is this channel about?').waitFor();
	await dialog.getByRole('button', { name: 'Edit the topic' }).click();
	await page.keyboard.type('Ropes and knots');
	await page.keyboard.press('Enter');
	await other.page.locator('.pane-title p', { hasText: 'Ropes and knots' }).waitFor();
	await dialog.getByRole('button', { name: 'Edit the name' }).click();
	await dialog.getByLabel('Name').fill('harbour');
	await page.keyboard.press('Enter');
	await dialog.getByText('This name is already taken.').waitFor();
	await dialog.getByLabel('Name').fill('Long Pier');
	await page.keyboard.press('Enter');
	await eventually(async () => expect(await heading(other.page)).toBe('long-pier'));

	await page.getByRole('button', { name: 'Leave the channel' }).click();
	await page.getByRole('main', { name: 'Inbox' }).waitFor();
	await eventually(async () => expect(await screen.row('long-pier').count()).toBe(0));
	const choose = async (item: string) => {
		await other.page.getByRole('button', { name: 'Settings of this conversation' }).click();
		await other.page.getByRole('menuitem', { name: item }).click();
	};
	await choose('Rename…');
	await other.page.getByLabel('Name', { exact: true }).fill('Short Pier');
	await other.page.keyboard.press('Enter');
	await eventually(async () => expect(await heading(other.page)).toBe('short-pier'));
	await other.page.getByRole('button', { name: 'Close' }).click();
	await choose('Archive…');
	await other.page.getByRole('button', { name: 'Cancel' }).click();
	await other.page.getByRole('button', { name: 'Archive…' }).click();
	await other.page.getByRole('button', { name: 'Archive', exact: true }).click();
	await other.page.getByRole('main', { name: 'Inbox' }).waitFor();
	const { channel: archived } = await grace.call('conversations.info', { channel: made.id });
	expect(archived.is_archived).toBe(true);
	expect(archived.id).not.toBe(channel);
	await screen.expectExact();
	await other.expectExact();
});

test('a double click on Show more, or a person on two pages, lists nobody twice', async () => {
	const { people } = await scene(3);
	const [ada, grace, linus] = people;
	const screen = await show(ada);
	const { page } = screen;
	const later: string[] = [];
	const answering = Promise.withResolvers<void>();
	await page.route('**/api/conversations.members', async (route) => {
		const { cursor } = route.request().postDataJSON();
		if (cursor) {
			later.push(cursor);
			await answering.promise;
		}
		await route.fulfill({
			json: {
				ok: true,
				members: cursor ? [grace.id, linus.id] : [ada.id, grace.id],
				response_metadata: { next_cursor: cursor ? '' : 'second' },
			},
		});
	});
	await screen.open('harbour');
	await page.getByRole('button', { name: 'Members' }).click();
	const dialog = page.getByRole('dialog', { name: '#harbour' });
	await dialog.getByRole('button', { name: 'Show more' }).dblclick();
	answering.resolve();
	await dialog.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
	const names = await dialog.locator('.person strong').allInnerTexts();
	expect(names).toEqual(['person-0 you', 'person-1', 'person-2']);
	expect(later).toEqual(['second']);
	await dialog.getByText('3 members').waitFor();
	// Without further clicks, nobody is offered who is a member on a page that was not shown.
	await page.getByRole('button', { name: 'Close' }).click();
	await page.getByRole('button', { name: 'Members' }).click();
	await dialog.getByRole('button', { name: 'Show more' }).waitFor();
	await dialog.getByRole('button', { name: 'Add people' }).click();
	await page.getByText('Everybody is already a member.').waitFor();
	expect(later).toEqual(['second', 'second']);
});

test('a link to a conversation that the user is not in offers to join only if that is possible', async () => {
	const { people } = await scene(2);
	const [ada, grace] = people;
	const { channel: open } = await grace.call('conversations.create', { name: 'open' });
	const { channel: shut } = await grace.call('conversations.create', { name: 'shut', is_private: true });
	const screen = await show(ada);
	const { page } = screen;
	const visit = (id: string) => page.evaluate(`location.hash = '#/c/${id}'`);
	for (const id of ['CNOTHERE000', shut.id]) {
		await visit(id);
		await page.getByRole('heading', { name: 'Conversation not found' }).waitFor();
		expect(await page.getByRole('button', { name: 'Join' }).count()).toBe(0);
		const text = await page.locator('.state p').boundingBox();
		const button = await page.getByRole('button', { name: 'Back to the inbox' }).boundingBox();
		expect((button?.y ?? 1e6) - ((text?.y ?? 0) + (text?.height ?? 0))).toBeLessThan(40);
		await visit('');
	}
	await visit(open.id);
	await page.getByRole('heading', { name: 'open' }).waitFor();
	await page.getByRole('button', { name: 'Join' }).click();
	await page.getByText('Write the first message in #open.').waitFor();
	await screen.expectExact();
});

test('a new user alone in a workspace sees no errors; icons and texts of a row are level', async () => {
	const { people } = await scene(1);
	const { page } = await show(people[0]);
	const middleOf = async (what: string) => {
		const box = await page.locator('.pane-head').locator(what).boundingBox();
		return (box?.y ?? 0) + (box?.height ?? 0) / 2;
	};
	expect(Math.abs((await middleOf('input')) - (await middleOf('.button')))).toBeLessThan(2);
	await page.getByRole('button', { name: 'New conversation' }).click();
	await page.getByText('You are the only person in this workspace.').waitFor();
	expect(await page.getByText('No matches').count()).toBe(0);
	await page.getByRole('combobox').first().fill('!');
	await page.getByText('No matches.').waitFor();
});

test('a toast is above the text box, and disappears when the user goes to another view', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'first');
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	await eventually(async () => expect(await page.locator('.side-row.unread').count()).toBe(0));
	await page.keyboard.press('Alt+ArrowDown');
	const toast = page.locator('.toast', { hasText: 'There are no other unread conversations.' });
	const [said, box] = [await toast.boundingBox(), await page.locator('.write-box').boundingBox()];
	expect((said?.y ?? 1e6) + (said?.height ?? 0)).toBeLessThanOrEqual(box?.y ?? 0);
	await screen.row('Threads').click();
	await page.getByRole('main', { name: 'Threads' }).waitFor();
	expect(await page.locator('.toast').count()).toBe(0);
});

test('a person changes their name, and everybody sees it at once; nobody can leave the general channel', async () => {
	const { team } = await here.admin('admin.teams.create', { name: 'Quay', general_channel: 'general' });
	const [ada, grace] = await Promise.all(['ada', 'grace'].map((name) => member(team.id, name)));
	if (!ada || !grace) throw new Error('a person is missing');
	const [left, right] = [await show(ada), await show(grace)];
	await left.open('general');
	await left.write('Hello from here');
	await right.open('general');
	await left.page.locator('.side-me').getByRole('button', { name: 'More', exact: true }).click();
	await left.page.getByRole('menuitem', { name: 'Your profile' }).click();
	await left.page.getByRole('button', { name: 'Edit the name' }).click();
	await left.page.getByLabel('Name').fill('Ada Lovelace');
	await left.page.keyboard.press('Enter');
	await right.message('Hello from here').getByText('Ada Lovelace').waitFor();
	// While the name is being saved, Esc ends editing without closing the dialog.
	await left.page.getByRole('button', { name: 'Edit the name' }).waitFor();
	await left.page.keyboard.press('Escape');

	await left.page.getByRole('button', { name: 'Settings of this conversation' }).click();
	await left.page.getByRole('menuitem', { name: 'Mute' }).waitFor();
	expect(await left.page.getByRole('menuitem', { name: 'Leave' }).count()).toBe(0);
	await left.page.keyboard.press('Escape');
	await left.page.getByRole('button', { name: 'Members' }).click();
	await left.page.getByRole('dialog').getByText('2 members').waitFor();
	expect(await left.page.getByRole('button', { name: /^(Archive|Leave)/ }).count()).toBe(0);
});

async function member(team_id: string, name: string): Promise<Person> {
	const { user } = await here.admin('admin.users.create', { team_id, name });
	const { token } = await here.admin('admin.tokens.create', { user_id: user.id });
	return { id: user.id, name, token, call: client(here.server.url, token) };
}
