import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { png } from '../support/png.ts';
import type { Screen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Files in the interface: chosen, dropped and pasted, sent with progress, shown without moving anything, and deleted. */

const here = stage({ 'file-max-mb': '1' });
const { scene, show } = here;

const PICTURE = { name: 'pier.png', mimeType: 'image/png', buffer: png(900, 600) };
const NOTES = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('High tide at noon') };

const chosen = ({ page }: Screen) => page.locator('.pane .chosen-files li');
const attach = ({ page }: Screen, ...files: (typeof NOTES)[]) =>
	page.locator('.pane .composer input[type=file]').setInputFiles(files);
const send = ({ page }: Screen) =>
	page.locator('.pane .composer').getByRole('button', { name: 'Send' }).click();

/** As if somebody dragged the file from the desktop, or pasted it. */
const bring = (screen: Screen, type: 'drop' | 'paste', name: string) =>
	screen.page.evaluate(`(() => {
		const transfer = new DataTransfer();
		transfer.items.add(new File(['brought'], ${JSON.stringify(name)}, { type: 'text/plain' }));
		const [box, at] = [document.querySelector('.pane textarea'), document.querySelector('.pane .timeline-place')];
		const options = { bubbles: true, cancelable: true };
		if (${JSON.stringify(type)} === 'paste')
			box.dispatchEvent(new ClipboardEvent('paste', { ...options, clipboardData: transfer }));
		else for (const step of ['dragenter', 'dragover', 'drop'])
			at.dispatchEvent(new DragEvent(step, { ...options, dataTransfer: transfer }));
	})()`);

test('a picture and a text are sent in one message; the list does not move when the picture loads', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	for (let index = 0; index < 30; index += 1) await post(grace, `before ${index}`);
	const [screen, other] = [await show(ada), await show(grace)];
	// The picture loads late.
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	await other.page.route('**/files-pri/**', (route) => released.then(() => route.continue()));
	await screen.open('harbour');
	await other.open('harbour');
	await attach(screen, PICTURE, NOTES);
	await eventually(async () => expect(await chosen(screen).count()).toBe(2));
	await bring(screen, 'paste', 'pasted.txt');
	await bring(screen, 'drop', 'dropped.txt');
	await eventually(async () => expect(await chosen(screen).count()).toBe(4));
	for (const name of ['pasted.txt', 'dropped.txt'])
		await screen.page.getByRole('button', { name: `Remove ${name}` }).click();
	await screen.write('Look at *these*');
	expect(await chosen(screen).count()).toBe(0);

	const message = other.message('Look at these');
	await message.locator('.picture').waitFor();
	const box = () => message.locator('.picture').boundingBox();
	const place = () =>
		other.page.evaluate<number[]>(
			`(({ scrollTop, scrollHeight, clientHeight }) => [scrollTop, scrollHeight, scrollHeight - scrollTop - clientHeight])(document.querySelector('.pane .timeline'))`,
		);
	// When the list has come to rest at its end.
	await eventually(async () => expect((await place())[2]).toBeLessThan(2));
	const before = [await box(), await place()];
	expect(before[0]).toMatchObject({ width: 360, height: 240 });
	await message.locator('.picture img').waitFor({ state: 'attached' });
	release();
	await eventually(async () =>
		expect(await other.page.evaluate<number>(`document.querySelector('.picture img').naturalWidth`)).toBe(
			900,
		),
	);
	expect([await box(), await place()]).toEqual(before);

	// The viewer, by keyboard.
	await message.getByRole('button', { name: 'Open pier.png' }).press('Enter');
	await other.page.getByRole('dialog', { name: 'pier.png' }).locator('img').waitFor();
	await other.page.keyboard.press('Escape');
	await other.page.locator('dialog').waitFor({ state: 'detached' });

	// Other files are cards. Only the user who uploaded a file can delete it.
	const downloading = other.page.waitForEvent('download');
	await message.getByRole('button', { name: 'Download notes.txt' }).click();
	const path = await (await downloading).path();
	expect(await Bun.file(path).text()).toBe('High tide at noon');
	expect(await message.getByRole('button', { name: /^Delete/ }).count()).toBe(0);
	await screen.message('Look at these').getByRole('button', { name: 'Delete notes.txt' }).click();
	await screen.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await message.getByText('This file was deleted.').waitFor();
	await screen.expectExact();
});

test('a file that is too large is rejected before the upload; an upload can be cancelled, and a failed one retried', async () => {
	const { people } = await scene(2);
	const [ada] = people;
	const screen = await show(ada);
	const { page } = screen;
	await screen.open('harbour');
	const uploads: string[] = [];
	await page.route('**/upload/**', (route) => {
		uploads.push(route.request().url());
		// The first upload never ends, the second fails.
		if (uploads.length === 2) return route.abort();
		return uploads.length === 1 ? undefined : route.continue();
	});
	const large = { name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_100_000) };
	await attach(screen, NOTES, large);
	await eventually(async () => expect(await chosen(screen).count()).toBe(2));
	await send(screen);
	await page.getByText('large.bin: this server accepts files of at most 1 MB.').waitFor();
	expect(uploads).toEqual([]);
	await page.getByRole('button', { name: 'Discard' }).click();

	await attach(screen, NOTES);
	await send(screen);
	await page.getByRole('progressbar', { name: 'Upload of notes.txt' }).waitFor();
	await eventually(async () => expect(uploads.length).toBe(1));
	await page.getByRole('button', { name: 'Cancel' }).click();
	await page.locator('.upload').waitFor({ state: 'detached' });

	await attach(screen, NOTES);
	await send(screen);
	await page.getByText('Not sent: notes.txt').waitFor();
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.locator('.pane .file-card', { hasText: 'notes.txt' }).waitFor();
	await page.locator('.upload').waitFor({ state: 'detached' });
	expect(await page.locator('.pane .file-card').count()).toBe(1);
	screen.errors.splice(
		0,
		screen.errors.length,
		...screen.errors.filter((error) => !error.includes('net::ERR_FAILED')),
	);
});

test('a photo replaces the initials for everybody at once, until it is removed', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(ada, 'Good morning');
	const [screen, other] = [await show(ada), await show(grace)];
	await other.open('harbour');
	const face = other.message('Good morning').locator('.avatar img');
	const { page } = screen;
	await page.locator('.side-me').getByRole('button', { name: 'More', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Your profile' }).click();
	await page.getByRole('dialog').locator('input[type=file]').setInputFiles(PICTURE);
	await face.waitFor();
	await page.getByRole('dialog').locator('.avatar img').waitFor();
	const address = `${here.server.url}${await face.getAttribute('src')}`;
	const { status, headers } = await fetch(address);
	expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
		200,
		'image/png',
		'nosniff',
	]);
	await page.getByRole('button', { name: 'Remove' }).click();
	await face.waitFor({ state: 'detached' });
	expect((await fetch(address)).status).toBe(404);
	const rejected = await Promise.all(
		[new Blob(['<svg/>']), new Blob([png(1025, 2)]), new Blob([new Uint8Array(600_000)])].map(
			async (image) => {
				const body = new FormData();
				body.set('image', image, 'me.png');
				const authorization = `Bearer ${ada.token}`;
				const answer = await fetch(`${here.server.url}/api/users.setPhoto`, {
					method: 'POST',
					headers: { authorization },
					body,
				});
				return ((await answer.json()) as { error: string }).error;
			},
		),
	);
	expect(rejected).toEqual(['bad_image', 'bad_image', 'too_large']);
});

test('the inbox shows a message without a text whose file was deleted', async () => {
	const { people, channel } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(grace);
	await screen.open('harbour');
	await attach(screen, NOTES);
	await eventually(async () => expect(await chosen(screen).count()).toBe(1));
	await send(screen);
	await screen.page.locator('.pane .file-card').waitFor();
	const { messages } = await grace.call('conversations.history', { channel });
	await grace.call('files.delete', { file: messages[0].files[0].id });
	const other = await show(ada);
	await other.page.locator('.inbox-preview', { hasText: 'a deleted file' }).waitFor();
});

test('after the answer to an upload was lost, another attempt posts no second message', async () => {
	const { people, channel } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	await screen.open('harbour');
	// The server shares the files, but its answer is lost.
	await page.route('**/api/files.completeUploadExternal', async (route) => {
		await route.fetch();
		await route.abort();
	});
	await attach(screen, NOTES);
	await eventually(async () => expect(await chosen(screen).count()).toBe(1));
	await send(screen);
	await page.getByText('Not sent: notes.txt').waitFor();
	await page.unroute('**/api/files.completeUploadExternal');
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.locator('.upload').waitFor({ state: 'detached' });
	expect((await people[0].call('conversations.history', { channel })).messages).toHaveLength(1);
	screen.errors.splice(
		0,
		screen.errors.length,
		...screen.errors.filter((error) => !error.includes('net::ERR_FAILED')),
	);
});

test('a reply with files cannot be sent to the conversation as well, and the page says so', async () => {
	const { people, channel, post } = await scene(2);
	const root = await post(people[0], 'a question');
	const { page } = await show(people[0]);
	await page.evaluate(`location.hash = '#/c/${channel}?thread=${channel}:${root}'`);
	const broadcast = page.getByRole('checkbox', { name: 'Also send to the conversation' });
	await broadcast.check();
	await page.locator('.thread-panel .composer input[type=file]').setInputFiles([NOTES]);
	await page.getByText('not possible with files').waitFor();
	expect([await broadcast.isDisabled(), await broadcast.isChecked()]).toEqual([true, false]);
	await page.getByRole('button', { name: 'Remove notes.txt' }).click();
	await eventually(async () => expect(await broadcast.isChecked()).toBe(true));
});
