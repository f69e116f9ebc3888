import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { traceTasks } from '../support/web/main-thread.ts';
import { Screen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Signing in, losing the connection, signing out. */

const here = stage();
const { scene, show } = here;

test('a link signs in: its token leaves the address bar, and is in no requested address', async () => {
	const { people } = await scene(2);
	const [ada] = people;
	const screen = await show(ada);
	expect(screen.page.url()).toBe(`${here.server.url}/`);
	expect(screen.addresses.filter((address) => address.includes(ada.token))).toEqual([]);
	await screen.page.reload();
	await screen.page.locator('.side-me').waitFor();
	await screen.page.getByRole('button', { name: 'More', exact: true }).click();
	await screen.page.getByRole('menuitem', { name: 'Sign out' }).click();
	await screen.page.getByLabel('Token').waitFor();
	await screen.page.reload();
	await screen.page.getByLabel('Token').waitFor();
});

test('signing out forgets a token that a former session of the browser stored', async () => {
	const { people } = await scene(2);
	const { page: first } = await show(people[0]);
	// Like a restarted browser, a new page has only the stored token.
	const page = await first.context().newPage();
	await page.goto(here.server.url);
	await page.locator('.side-me').waitFor();
	await page.getByRole('button', { name: 'More', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Sign out' }).click();
	await page.getByLabel('Token').waitFor();
	expect(await page.evaluate<string | null>(`localStorage.getItem('tidemark.token')`)).toBeNull();
});

test('if the server does not say how the session began, signing out asks first', async () => {
	const { people } = await scene(2);
	const { page } = await show(people[0]);
	await page.route('**/api/auth.sessions.list', (route) =>
		route.fulfill({ json: { ok: false, error: 'service_unavailable' } }),
	);
	const signOut = async () => {
		await page.getByRole('button', { name: 'More', exact: true }).click();
		await page.getByRole('menuitem', { name: 'Sign out' }).click();
		return page.getByRole('dialog', { name: 'Sign out?' });
	};
	const question = await signOut();
	await question.getByText('The server does not answer.').waitFor();
	await question.getByRole('button', { name: 'Stay signed in' }).click();
	await question.waitFor({ state: 'detached' });
	await page.locator('.side-me').waitFor();
	await (await signOut()).getByRole('button', { name: 'Sign out anyway' }).click();
	await page.getByLabel('Token').waitFor();
	// Nothing was revoked.
	await people[0].call('auth.test');
});

test('a token can be typed in; an unknown one is rejected with an explanation', async () => {
	const { people } = await scene(2);
	const [ada] = people;
	const context = await here.browser.newContext();
	const screen = new Screen(await context.newPage(), ada);
	await screen.page.goto(here.server.url);
	await screen.page.getByLabel('Token').fill('xoxp-nobody');
	await screen.page.getByRole('button', { name: 'Sign in' }).click();
	await screen.page.getByText('Token not recognised.').waitFor();
	await screen.page.getByLabel('Token').fill(ada.token);
	await screen.page.getByRole('button', { name: 'Sign in' }).click();
	await screen.page.locator('.side-me').waitFor();
	await screen.expectExact();
	expect(screen.errors).toEqual([]);
	await context.close();
});

/** The page's sockets, and a way to close them with a code. */
async function closableSockets(screen: Screen): Promise<(code: number) => Promise<void>> {
	const sockets: { close(options: { code: number }): Promise<void> }[] = [];
	await screen.page.routeWebSocket(/./, (socket) => {
		socket.connectToServer();
		sockets.push(socket);
	});
	await screen.page.reload();
	await screen.page.locator('.side-me').waitFor();
	await eventually(async () => expect(sockets.length).toBeGreaterThan(0));
	return async (code) => {
		for (const socket of sockets.splice(0)) await socket.close({ code });
	};
}

test('an open page whose sign-in has expired says so, instead of doubting the token', async () => {
	const { people } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	const close = await closableSockets(screen);
	await page.route('**/api/rtm.connect', (route) =>
		route.fulfill({ json: { ok: false, error: 'invalid_auth' } }),
	);
	await close(4203);
	await page.getByText('You are signed out: your sign-in has expired or was revoked.').waitFor();
	await page.reload();
	await page.getByLabel('Token').waitFor();
});

test('a page that is one device too many keeps its token, and offers to try again', async () => {
	const { people } = await scene(2);
	const screen = await show(people[0]);
	const { page } = screen;
	const close = await closableSockets(screen);
	await close(4204);
	await page.getByText('Too many devices are connected for this account.').waitFor();
	await page.getByRole('button', { name: 'Try again' }).click();
	await page.getByText('Too many devices').waitFor({ state: 'detached' });
	await screen.expectExact();
	await page.reload();
	await page.locator('.side-me').waitFor();
});

test('a device that is already signed out leaves the list of devices', async () => {
	const { people } = await scene(1);
	const { page } = await show(people[0]);
	const gone = { id: 'f'.repeat(16), device: 'Phone', date_created: 1, is_current: false };
	const listed = [gone];
	await page.route('**/api/auth.sessions.list', (route) =>
		route.fulfill({ json: { ok: true, sessions: listed } }),
	);
	await page.route('**/api/auth.sessions.revoke', (route) => {
		listed.pop();
		return route.fulfill({ json: { ok: false, error: 'session_not_found' } });
	});
	await page.getByRole('button', { name: 'More', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Your devices' }).click();
	const signOut = page.getByRole('button', { name: /^Sign out Phone/ });
	await signOut.click();
	await page.getByText('This device is already signed out.').waitFor();
	await signOut.waitFor({ state: 'detached' });
});

test('an unknown address shows a page with a link back; administrators find the way to operations', async () => {
	const context = await here.browser.newContext();
	const page = await context.newPage();
	const answer = await page.goto(`${here.server.url}/nothing`);
	expect([answer?.status(), answer?.headers()['cache-control']]).toEqual([404, 'no-store']);
	await page.getByRole('heading', { name: 'Page not found' }).waitFor();
	await page.getByRole('link', { name: 'Go to Tidemark' }).click();
	await page.getByLabel('Token').waitFor();
	await page.getByRole('link', { name: 'see its status' }).click();
	await page.getByLabel('Administrator’s token').waitFor();
	await page.goto(`${here.server.url}/devices`);
	await page.getByRole('link', { name: 'Sign in' }).click();
	await page.getByLabel('Token').waitFor();
	await context.close();
});

test('during an outage the page says so, keeps drafts, and catches up afterwards', async () => {
	const { people, channel, post } = await scene(2);
	const [ada, grace] = people;
	const screen = await show(ada);
	await screen.open('harbour');
	const place = () => screen.page.locator('.pane-head').boundingBox();
	const before = await place();
	await screen.page.route('**/api/**', (route) => route.abort());
	await here.server.restart();
	await screen.page.getByText('Reconnecting…').waitFor();
	expect(await place()).toEqual(before);
	await screen.write('Written without a connection');
	await screen.page.locator('article.sending', { hasText: 'Written without' }).waitFor();
	await post(grace, 'Sent meanwhile');
	await screen.page.unroute('**/api/**');
	await screen.page.locator('article.sent', { hasText: 'Written without' }).waitFor();
	await screen.message('Sent meanwhile').waitFor();
	await eventually(async () => expect(await screen.page.getByText('Reconnecting…').count()).toBe(0));
	await screen.expectExact();
	const { messages } = await grace.call('conversations.history', { channel });
	expect(messages.map(({ text }: { text: string }) => text)).toEqual([
		'Written without a connection',
		'Sent meanwhile',
	]);
	// The browser's own errors about failed requests are not the page's.
	const ofThePage = screen.errors.filter((error) => !/net::ERR_|WebSocket connection/.test(error));
	screen.errors.splice(0, screen.errors.length, ...ofThePage);
});

test('a failed load says why, and can be retried', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	await post(grace, 'behind the failure');
	const screen = await show(ada);
	await screen.page.route('**/api/conversations.history', (route) =>
		route.fulfill({ json: { ok: false, error: 'channel_not_found' } }),
	);
	await screen.row('harbour').click();
	await screen.page.getByText('This could not be loaded').waitFor();
	await screen.page.getByText('This conversation does not exist, or you may not see it.').waitFor();
	await screen.expectExact();
	await screen.page.unroute('**/api/conversations.history');
	await screen.page.getByRole('button', { name: 'Try again' }).click();
	await screen.message('behind the failure').waitFor();
	await screen.expectExact();
});

test('the first view takes less than a second of CPU', async () => {
	const { people, post } = await scene(2);
	const [ada, grace] = people;
	for (let index = 0; index < 30; index += 1) await post(grace, `message ${index}`);
	const { page } = await show(ada);
	const { totalMs } = await traceTasks(page, async () => {
		await page.reload();
		await page.locator('.inbox-item').first().waitFor();
	});
	console.log(`  first view: ${totalMs.toFixed(0)} ms of CPU`);
	expect(totalMs).toBeLessThan(1_000);
});

test('the page is served compressed, cached, and with a strict policy', async () => {
	const get = (path: string, headers: Record<string, string> = {}) =>
		fetch(here.server.url + path, { headers });
	const page = await get('/');
	expect(page.headers.get('content-type')).toStartWith('text/html');
	expect(page.headers.get('cache-control')).toBe('no-cache');
	const policy = page.headers.get('content-security-policy') ?? '';
	expect(policy).toContain("default-src 'none'");
	expect(policy).not.toContain('unsafe');
	const again = await get('/', { 'if-none-match': page.headers.get('etag') ?? '' });
	expect([again.status, await again.text()]).toEqual([304, '']);
	const html = await page.text();
	expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=/);
	const [script = ''] = html.match(/\/assets\/[\w-]+\.js/) ?? [];
	for (const encoding of ['br', 'gzip', 'identity']) {
		const answer = await get(script, { 'accept-encoding': encoding });
		expect(answer.headers.get('content-encoding') ?? 'identity').toBe(encoding);
		expect(answer.headers.get('cache-control')).toContain('immutable');
		expect(answer.headers.get('vary')).toBe('accept-encoding');
		expect(await answer.text()).toContain('Reconnecting');
	}
	expect((await get('/assets/nothing.js')).status).toBe(404);
	const elsewhere = await get('/elsewhere');
	expect([elsewhere.status, await elsewhere.json()]).toEqual([404, { ok: false, error: 'unknown_method' }]);
	// API methods are not pages, whatever client requests them.
	const method = await get('/api/elsewhere', { accept: 'text/html' });
	expect([method.status, await method.json()]).toEqual([200, { ok: false, error: 'unknown_method' }]);
	expect((await get('/not-found.html')).status).toBe(404);
	expect((await fetch(here.server.url, { method: 'POST' })).status).toBe(404);
});
