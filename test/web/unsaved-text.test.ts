import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Screen, tryNow } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Text that the server does not have yet stays: on the screen, and after a reload. */

const here = stage();
const { scene, show } = here;

const box = (screen: Screen) => screen.page.locator('.pane .composer textarea');
const NOTES = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('High tide at noon') };
/** The browser's own errors about failed requests are not the page's. */
const forgetNetwork = ({ errors }: Screen) =>
	errors.splice(0, errors.length, ...errors.filter((error) => !/net::ERR_|WebSocket/.test(error)));

async function cutOff({ page }: Screen): Promise<void> {
	await page.route('**/api/**', (route) => route.abort());
	await page.context().setOffline(true);
	await page.getByText('Reconnecting…').waitFor();
}

test('a message with a mention appears at once during an outage, and arrives as a mention after a reload', async () => {
	const { people, channel } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	// The page has not loaded any users yet, so it does not know this name.
	await cutOff(screen);
	await box(screen).fill(`for @${grace.name} in #harbour now`);
	await box(screen).press('Enter');
	await screen.message(`for @${grace.name}`).waitFor({ timeout: 2_000 });
	await page.getByText('1 message not sent yet. It is saved in this browser').waitFor();
	await page.context().setOffline(false);
	await page.reload();
	await page.getByText('Connecting…', { exact: true }).waitFor();
	await page.unroute('**/api/**');
	await tryNow(page);
	await page.locator('article.sent', { hasText: 'for ' }).waitFor();
	const { messages } = await grace.call('conversations.history', { channel });
	expect(messages.map(({ text }: { text: string }) => text)).toEqual([
		`for <@${grace.id}> in <#${channel}|harbour> now`,
	]);
	forgetNetwork(screen);
});

test('the text of an unsent message with files returns to the text box, and is a draft after a reload', async () => {
	const { people } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	await screen.open('harbour');
	await page.route('**/upload/**', (route) => route.abort());
	const share = async (text: string) => {
		await page.locator('.pane .composer input[type=file]').setInputFiles(NOTES);
		await page.getByRole('list', { name: 'Files to send' }).waitFor();
		await box(screen).fill(text);
		await box(screen).press('Enter');
		await page.getByText('Not sent: notes.txt').waitFor();
	};
	await share('these are the notes');
	expect(await box(screen).inputValue()).toBe('');
	await box(screen).fill('meanwhile');
	await page.getByRole('button', { name: 'Discard' }).click();
	expect(await box(screen).inputValue()).toBe('these are the notes\nmeanwhile');
	await eventually(async () =>
		expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Message #harbour'),
	);
	await page.locator('.upload').waitFor({ state: 'detached' });

	await share('and once more');
	page.on('dialog', (dialog) => void dialog.accept());
	await page.reload();
	await page.locator('.pane .composer').waitFor();
	await eventually(async () => expect(await box(screen).inputValue()).toBe('and once more'));
	// A sent text does not return.
	await page.unroute('**/upload/**');
	await page.locator('.pane .composer input[type=file]').setInputFiles(NOTES);
	await page.getByRole('list', { name: 'Files to send' }).waitFor();
	await box(screen).press('Enter');
	await screen.message('and once more').locator('.file-card').waitFor();
	await page.reload();
	await screen.message('and once more').waitFor();
	expect(await box(screen).inputValue()).toBe('');
	forgetNetwork(screen);
});

test('two pages with the same session storage, as a duplicated tab has, do not replace each other’s texts', async () => {
	const { people } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	await page.context().route('**/upload/**', (route) => route.abort());
	await screen.open('harbour');
	await page.evaluate("sessionStorage.setItem('tidemark.tab', '1-2')");
	const [copy] = await Promise.all([page.waitForEvent('popup'), page.evaluate('void open(location.href)')]);
	const share = async (on: typeof page, text: string) => {
		await on.locator('.pane .composer input[type=file]').setInputFiles(NOTES);
		await on.getByRole('list', { name: 'Files to send' }).waitFor();
		await on.locator('.pane .composer textarea').fill(text);
		await on.locator('.pane .composer textarea').press('Enter');
		await on.getByText('Not sent: notes.txt').waitFor();
	};
	await share(page, 'from the first page');
	await share(copy, 'from its copy');
	expect(await copy.evaluate<string>("sessionStorage.getItem('tidemark.tab')")).toBe('1-2');
	copy.on('dialog', (dialog) => void dialog.accept());
	await copy.close();
	page.on('dialog', (dialog) => void dialog.accept());
	await page.reload();
	await eventually(async () => {
		const lines = (await box(screen).inputValue()).split('\n').sort();
		expect(lines).toEqual(['from its copy', 'from the first page']);
	});
	forgetNetwork(screen);
});

test('an edit that cannot be saved stays in its box', async () => {
	const { people, post } = await scene(2);
	await post(people[0], 'with a mistke');
	const screen = await show(people[0]);
	const { page } = screen;
	await screen.open('harbour');
	await page.route('**/api/chat.update', (route) => route.abort());
	await box(screen).press('ArrowUp');
	const edit = page.getByRole('textbox', { name: 'Edit message' });
	await edit.fill('with a mistake');
	await edit.press('Enter');
	await page.getByText('The server does not answer.').waitFor();
	expect(await edit.inputValue()).toBe('with a mistake');
	await page.unroute('**/api/chat.update');
	await edit.press('Enter');
	await screen.message('with a mistake').getByText('(edited)').waitFor();
	forgetNetwork(screen);
});

test('a person who joins while the page is open can be mentioned and found', async () => {
	const { people } = await scene(2);
	const [ada] = people;
	const { team } = await ada.call('team.info');
	const screen = await show(ada);
	const { page } = screen;
	await page.keyboard.press('Control+k');
	await page.getByRole('dialog').getByRole('combobox').fill('person');
	await page
		.getByRole('option', { name: /person-1/ })
		.first()
		.waitFor();
	await page.keyboard.press('Escape');
	await here.admin('admin.users.create', { team_id: team.id, real_name: 'Late Comer' });
	await screen.open('harbour');
	await box(screen).pressSequentially('@late');
	await page.getByRole('option', { name: /Late Comer/ }).waitFor();
});

test('a message whose outcome is unknown does not claim that it was not sent, and can be sent again', async () => {
	const { people, channel } = await scene(2);
	const [ada] = people;
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	const post = {
		user: ada.id,
		args: { channel, text: 'sent two days ago', client_msg_id: 'old' },
		firstSentAt: Date.now() - 48 * 60 * 60 * 1000,
		error: 'outcome_unknown',
	};
	const stored = JSON.stringify(JSON.stringify({ at: Date.now(), post }));
	await page.evaluate(`localStorage.setItem('tidemark.unsent.old', ${stored})`);
	await page.reload();
	await page.getByText('it may have made it. Check before you try again.').waitFor();
	expect(await page.getByText('Not sent.').count()).toBe(0);
	await page.getByRole('button', { name: 'Send again' }).click();
	await page.locator('article.sent', { hasText: 'sent two days ago' }).waitFor();
});
