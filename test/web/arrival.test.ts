import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { client } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { Person } from '../support/people.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { Screen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Inviting people with a mouse, and what a link does if somebody is already signed in. */

const here = stage({});
const NOBODY = {} as Person;

async function newScreen(): Promise<Screen> {
	const context = await here.browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
	return new Screen(await context.newPage(), NOBODY);
}

const moreMenu = (page: Page) => page.locator('.side-me').getByRole('button', { name: 'More', exact: true });

test('from the administrator’s page to a person signed in by a link, on two devices, and signed out again', async () => {
	const admin = await newScreen();
	await admin.page.goto(`${here.server.url}/admin`);
	await admin.page.getByLabel('Administrator’s token').fill(ADMIN_TOKEN);
	await admin.page.getByRole('button', { name: 'Sign in' }).click();
	await admin.page.getByText('There is no workspace yet.').waitFor();
	await admin.page.getByLabel('New workspace').fill('Harbour Crew');
	await admin.page.getByRole('button', { name: 'Create' }).click();
	await admin.page.getByLabel('Invite link for').fill('Mia of the crew');
	await admin.page.getByRole('button', { name: 'Create an invite link' }).click();
	const link = await admin.page.getByLabel('Invite link to Harbour Crew').inputValue();
	expect(link).toStartWith(`${here.server.url}/#invite=`);
	// An open link is identified by its id, which is shown with the link, and by its creation time.
	const shownId = async () =>
		/Link ([0-9a-f]{8})/.exec(await admin.page.locator('.copy-field .hint').first().innerText())?.[1] ?? '';
	const open = (id: string) => admin.page.locator('.admin-invites li', { hasText: `Link ${id}` });
	const forAnybody = await shownId();
	await open(forAnybody)
		.filter({ hasText: /for Mia of the crew.*created .* by an administrator, expires / })
		.waitFor();
	// A person who is added gets a link at once.
	await admin.page.getByLabel('Add a person').fill('Tom Vane');
	await admin.page.keyboard.press('Enter');
	expect(await admin.page.getByLabel('Link that signs in Tom Vane').inputValue()).toContain('/#invite=');
	const forTom = await shownId();
	expect([forTom.length, forTom === forAnybody]).toEqual([8, false]);
	// The first link stays, because it was not copied; a revoked link disappears.
	expect(await admin.page.getByLabel('Invite link to Harbour Crew').inputValue()).toBe(link);
	await open(forTom)
		.filter({ hasText: /for tom\.vane.*created / })
		.waitFor();
	await open(forTom)
		.getByRole('button', { name: `Revoke link ${forTom}` })
		.click();
	await open(forTom).waitFor({ state: 'detached' });
	await admin.page.getByLabel('Link that signs in Tom Vane').waitFor({ state: 'detached' });
	// A link that was copied makes room for the next one.
	await admin.page.getByLabel('Invite link to Harbour Crew').press('Control+c');
	await admin.page.getByRole('button', { name: 'Create an invite link' }).click();
	const fields = admin.page.locator('.copy-field input');
	await eventually(async () => {
		const [shown, ...others] = await fields.evaluateAll((all) =>
			all.map((one) => (one as unknown as { value: string }).value),
		);
		expect([shown === link, others]).toEqual([false, []]);
	});
	const uncopied = await fields.inputValue();
	// A second workspace with the same name is created only after a confirmation.
	await admin.page.getByLabel('New workspace').fill('harbour crew');
	await admin.page.keyboard.press('Enter');
	await admin.page.getByText(/A workspace called Harbour Crew already exists \(T\w+\)/).waitFor();
	const workspaces = admin.page.getByRole('region', { name: 'Workspaces' }).locator('[aria-pressed]');
	expect(await workspaces.allInnerTexts()).toEqual(['Harbour Crew']);
	await admin.page.getByRole('button', { name: 'Create a second one' }).click();
	await eventually(async () => expect(await workspaces.count()).toBe(2));
	const ours = workspaces.filter({ hasText: /^Harbour Crew/ });
	const theirs = workspaces.filter({ hasText: /^harbour crew/ });
	// The link of the first workspace was not copied yet: the page keeps it until it is dismissed.
	expect(await ours.innerText()).toMatch(/^Harbour Crew \(T\w+\) · 1 to copy$/);
	expect(await theirs.innerText()).toMatch(/^harbour crew \(T\w+\)$/);
	expect(await fields.count()).toBe(0);
	await ours.click();
	await open(forAnybody).waitFor();
	expect(await fields.inputValue()).toBe(uncopied);
	await admin.page.getByRole('button', { name: 'Dismiss' }).click();
	await fields.waitFor({ state: 'detached' });
	await theirs.click();
	await eventually(async () => expect(await ours.innerText()).toMatch(/\)$/));
	await ours.click();
	await open(forAnybody).waitFor();
	expect(await fields.count()).toBe(0);

	const mia = await newScreen();
	await mia.page.goto(link);
	await mia.page.getByRole('heading', { name: 'Join Harbour Crew' }).waitFor();
	expect(mia.page.url()).toBe(`${here.server.url}/`);
	await mia.page.getByLabel('Your name').fill('Mia Berg');
	await mia.page.keyboard.press('Enter');
	await mia.page.locator('.side-me', { hasText: 'Mia Berg' }).waitFor();
	await mia.page.reload();
	await mia.page.locator('.side-me', { hasText: 'Mia Berg' }).waitFor();
	expect(mia.addresses.filter((address) => address.includes('inv-'))).toEqual([]);

	const late = await newScreen();
	await late.page.goto(link);
	await late.page.getByText('This invite link was already used').waitFor();
	await late.page.getByRole('button', { name: 'Sign in another way' }).click();
	await late.page.getByLabel('Token').waitFor();

	await moreMenu(mia.page).click();
	await mia.page.getByRole('menuitem', { name: 'Your devices' }).click();
	await mia.page.getByText('Chrome on Linux').waitFor();
	await mia.page.getByRole('button', { name: 'Add a device' }).click();
	const second = await mia.page.getByLabel('Link for another device').inputValue();
	await late.page.goto(second);
	await late.page.getByText('This link signs you in as Mia Berg.').waitFor();
	await late.page.getByRole('heading', { name: 'Sign in to Harbour Crew' }).waitFor();
	// The button has the focus.
	await late.page.keyboard.press('Enter');
	await late.page.locator('.side-me', { hasText: 'Mia Berg' }).waitFor();
	await mia.page.getByRole('button', { name: 'Close' }).click();
	await moreMenu(mia.page).click();
	await mia.page.getByRole('menuitem', { name: 'Your devices' }).click();
	await mia.page.getByText('This device · signed in').waitFor();
	await mia.page.getByRole('button', { name: /^Sign out Chrome on Linux/ }).click();
	await late.page.getByText('This device was signed out.').waitFor();

	await mia.page.getByRole('button', { name: 'Sign out everywhere' }).click();
	await mia.page.getByRole('button', { name: 'Yes, sign out everywhere' }).click();
	await mia.page.getByText('This device was signed out.').waitFor();

	await admin.page.reload();
	await ours.click();
	await admin.page.getByRole('button', { name: 'Actions for mia.berg' }).click();
	// The dialog asks first.
	await admin.page.getByRole('menuitem', { name: 'Deactivate' }).click();
	const question = admin.page.getByRole('dialog', { name: 'Deactivate Mia Berg?' });
	await question.getByRole('button', { name: 'Cancel' }).click();
	expect(await admin.page.getByText('· deactivated').count()).toBe(0);
	await admin.page.getByRole('button', { name: 'Actions for mia.berg' }).click();
	await admin.page.getByRole('menuitem', { name: 'Deactivate' }).click();
	await question.getByRole('button', { name: 'Deactivate' }).click();
	await admin.page.getByText('· deactivated').waitFor();
	expect([...admin.errors, ...mia.errors, ...late.errors]).toEqual([]);
	for (const { page } of [admin, mia, late]) await page.context().close();
});

test('the administrator finds every person of a large workspace', async () => {
	await here.scene(1);
	const admin = await newScreen();
	const { page } = admin;
	const PAGES = 7;
	await page.route('**/api/admin.users.list', (route) => {
		const number = Number(route.request().postDataJSON().cursor ?? 0);
		const users = Array.from({ length: 1000 }, (_, index) => ({
			id: `U${number}-${index}`,
			name: `person-${number}-${index}`,
			real_name: '',
		}));
		const next = number + 1 < PAGES ? String(number + 1) : '';
		return route.fulfill({ json: { ok: true, users, response_metadata: { next_cursor: next } } });
	});
	await page.goto(`${here.server.url}/admin`);
	await page.getByLabel('Administrator’s token').fill(ADMIN_TOKEN);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page
		.getByRole('button', { name: /^Harbour/ })
		.last()
		.click();
	await page.getByLabel('Find a person').fill('person-6-999');
	await page.locator('.admin-members li', { hasText: 'person-6-999' }).waitFor();
	expect(admin.errors).toEqual([]);
	await page.context().close();
});

test('the administrator stays signed in if the server does not answer while the page loads', async () => {
	const admin = await newScreen();
	const { page } = admin;
	await page.goto(`${here.server.url}/admin`);
	await page.getByLabel('Administrator’s token').fill(ADMIN_TOKEN);
	await page.getByRole('button', { name: 'Sign in' }).click();
	const workspaces = page.getByRole('region', { name: 'Workspaces' });
	await workspaces.waitFor();
	await page.route('**/api/admin.teams.create', (route) =>
		route.fulfill({ json: { ok: false, error: 'service_unavailable' } }),
	);
	await page.reload();
	await page.getByText('The server cannot do this right now.').waitFor();
	await page.unroute('**/api/admin.teams.create');
	await page.getByRole('button', { name: 'Sign in' }).click();
	await workspaces.waitFor();
	await page.reload();
	await workspaces.waitFor();
	expect(admin.errors).toEqual([]);
	await page.context().close();
});

test('a token in a link never replaces a stored session without asking', async () => {
	const { people } = await here.scene(2);
	const [ada, grace] = people;
	const { page } = await here.show(ada);
	const open = async (token: string) => {
		await page.goto(`${here.server.url}/#token=${token}`);
	};
	const name = ({ name: own }: Person) => page.locator('.side-me', { hasText: own });
	await open(grace.token);
	await page.getByRole('button', { name: `Stay signed in as ${ada.name}` }).click();
	await name(ada).waitFor();
	await open(grace.token);
	await page.getByRole('button', { name: `Switch to ${grace.name}` }).click();
	await name(grace).waitFor();
	// An error that says nothing about the tokens keeps the stored one.
	await page.route('**/api/auth.test', (route) =>
		route.fulfill({ json: { ok: false, error: 'service_unavailable' } }),
	);
	await open(ada.token);
	await page.getByText('The link could not be checked. Open it again in a moment.').waitFor();
	await name(grace).waitFor();
	await page.unroute('**/api/auth.test');
	// The same token, and one that does not work, cause no question.
	await open(grace.token);
	await name(grace).waitFor();
	await open(`xoxp-${'x'.repeat(43)}`);
	await page.getByText('The link did not sign you in: its token does not work.').waitFor();
	await name(grace).waitFor();
	// If the stored session has ended, the page does not ask.
	await client(here.server.url, ADMIN_TOKEN)('admin.tokens.revoke', { user_id: grace.id });
	await page.getByText('This device was signed out.').waitFor();
	await open(ada.token);
	await name(ada).waitFor();
});

test('an invite link that cannot be checked can be tried again, and names the current account before it replaces it', async () => {
	const { people } = await here.scene(1);
	const [ada] = people;
	const { team_id } = await ada.call('auth.test');
	const { url } = await here.admin('admin.invites.create', { team_id });
	const newcomer = await newScreen();
	const fails = (page: Page, method: string) =>
		page.route(`**/api/${method}`, (route) =>
			route.fulfill({ json: { ok: false, error: 'service_unavailable' } }),
		);
	await fails(newcomer.page, 'invites.info');
	await newcomer.page.goto(url);
	await newcomer.page.getByText('The server cannot do this right now.').waitFor();
	await newcomer.page.unroute('**/api/invites.info');
	await newcomer.page.getByRole('button', { name: 'Try again' }).click();
	await newcomer.page.getByRole('heading', { name: /^Join / }).waitFor();
	expect(newcomer.errors).toEqual([]);
	await newcomer.page.context().close();

	const { page } = await here.show(ada);
	await fails(page, 'auth.test');
	await page.goto(url);
	await page.getByText('The server cannot do this right now.').waitFor();
	expect(await page.getByRole('button', { name: 'Join' }).count()).toBe(0);
	await page.unroute('**/api/auth.test');
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByText(`You are signed in as ${ada.name}`).waitFor();
	// Trying again does not help if the link itself is not valid.
	await page.goto(`${url}x`);
	await page.getByText('This invite link is not valid.').waitFor();
	await page.getByRole('button', { name: `Stay signed in as ${ada.name}` }).waitFor();
	expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});
