import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { notificationStateOf } from '../../web/src/notifications/notification-state.ts';
import { addressOf, parsePushed } from '../../web/sw/pushed.ts';
import type { FakeProviders } from '../push/fake-providers.ts';
import { until, withPush } from '../push/push-server.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { NotificationDesk } from '../support/web/notifications.ts';
import { openScreen } from '../support/web/screen.ts';
import { stage } from '../support/web/stage.ts';

/** Notifications of the browser: the switch, the service worker, and the way from a post to the notification. */

const here = stage();

async function openSwitch(page: Page) {
	await page.getByRole('button', { name: 'More', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Notifications' }).click();
	return page.getByRole('switch', { name: 'Notify me in this browser' });
}

/**
 * Only one part is replaced: the browser's own push service is unreachable from here, so the browser subscribes at the
 * local one. Everything else is real.
 */
async function subscribeLocally(page: Page, providers: FakeProviders, name: string): Promise<void> {
	let present: { token: string; key: string } | null = null;
	await page.exposeFunction('subscribeLocally', async (key: string) => {
		present = { token: await providers.subscribe(name, key), key };
		return present;
	});
	await page.exposeFunction('presentSubscription', () => present);
	await page.exposeFunction('endSubscription', () => {
		present = null;
	});
	await page.addInitScript(`{
		const bytes = (key) => Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
		const made = (one) => one && {
			options: { applicationServerKey: bytes(one.key).buffer },
			toJSON: () => JSON.parse(one.token),
			unsubscribe: () => endSubscription(),
		};
		PushManager.prototype.subscribe = (options) => subscribeLocally(options.applicationServerKey).then(made);
		PushManager.prototype.getSubscription = () => presentSubscription().then(made);
	}`);
	await page.reload();
	await page.locator('.side-me').waitFor();
}

test('notifications: turned on, shown, read elsewhere, clicked, renewed, turned off, signed out', () =>
	withPush(
		async (scene) => {
			const { people } = await makeWorkspace(scene.url, 2);
			const [anna, ben] = people as [Person, Person];
			const devices = async () => (await anna.call('push.devices.list')).devices;
			const direct = (await ben.call('conversations.open', { users: anna.id })).channel.id;
			const channelOf = async (name: string) => {
				const { channel } = await ben.call('conversations.create', { name });
				await ben.call('conversations.invite', { channel: channel.id, users: anna.id });
				return channel.id as string;
			};
			const [harbour, quay] = [await channelOf('harbour'), await channelOf('quay')];
			const screen = await openScreen(here.browser, scene.url, anna, { permissions: ['notifications'] });
			const { page } = screen;
			await subscribeLocally(page, scene.providers, 'laptop');

			const toggle = await openSwitch(page);
			expect(await toggle.isChecked()).toBe(false);
			await toggle.click();
			await page.getByText('This browser notifies you about unread messages').waitFor();
			expect(await toggle.isChecked()).toBe(true);
			expect(await devices()).toMatchObject([{ platform: 'web' }]);
			await page.keyboard.press('Escape');

			const desk = await NotificationDesk.of(page);
			const post = async (where: string, text: string) =>
				(await ben.call('chat.postMessage', { channel: where, text })).ts as string;
			/** Delivers the pushes with this text from the push service to the worker. */
			const deliver = async (words: string) => {
				const isIt = (payload: string) => payload.includes(words);
				const pushed = await until(
					() => scene.providers.payloads('laptop'),
					(all) => all.some(isIt),
				);
				await desk.deliver(pushed.find(isIt) ?? 'nothing came');
			};

			const first = await post(direct, 'Have you seen this?');
			const tag = `${direct}:${first.replace('.', '')}`;
			await deliver('Have you seen this?');
			// A push that was sent twice, because the first one was not acknowledged, shows one notification.
			await deliver('Have you seen this?');
			expect(await desk.shown()).toEqual([{ title: 'person-1', body: 'Have you seen this?', tag }]);
			await anna.call('conversations.mark', { channel: direct, ts: first });
			await deliver('"withdrawn"');
			expect(await desk.shown()).toEqual([]);
			expect(await desk.badges()).toEqual([1, 1, 0]);

			// A burst of both: none is lost because another call lists the notifications.
			const tags = Array.from({ length: 20 }, (_, number) => `burst:${number}`);
			const burst = tags.flatMap((one, number) => [
				JSON.stringify({ type: 'message', title: 'T', body: '', tag: one, badge: number }),
				JSON.stringify({ type: 'withdrawn', tags: ['another'], badge: number }),
			]);
			await desk.deliver(...burst);
			expect(await desk.shown()).toHaveLength(tags.length);
			await desk.deliver(JSON.stringify({ type: 'withdrawn', tags, badge: 0 }));
			expect(await desk.shown()).toEqual([]);

			const second = await post(direct, 'And this?');
			await deliver('And this?');
			await desk.click(`${direct}:${second.replace('.', '')}`);
			await screen.message('And this?').waitFor();
			expect(new URL(page.url()).hash).toBe(`#/c/${direct}?at=${second}`);
			await eventually(async () => expect(await desk.shown()).toEqual([]));

			// A device that the server lost is registered again when its user returns.
			const [device] = await devices();
			await anna.call('push.devices.remove', { platform: 'web', token: device.token });
			await page.reload();
			await eventually(async () => expect(await devices()).toHaveLength(1));

			// A message that is read here loses its notification without a push; notifications of other conversations stay.
			await post(harbour, `In the harbour, <@${anna.id}>`);
			await post(quay, `On the quay, <@${anna.id}>`);
			await deliver('In the harbour');
			await deliver('On the quay');
			expect(await desk.shown()).toHaveLength(2);
			await screen.open('harbour');
			await eventually(async () => {
				expect((await desk.shown()).map(({ body }) => body)).toEqual(['On the quay, @person-0']);
			});

			const again = await openSwitch(page);
			expect(await again.isChecked()).toBe(true);
			await again.click();
			await page.getByText('This browser does not notify you').waitFor();
			expect(await devices()).toEqual([]);
			expect(await desk.shown()).toEqual([]);
			await again.click();
			await page.getByText('This browser notifies you').waitFor();
			expect(await devices()).toHaveLength(1);
			await page.keyboard.press('Escape');
			await page.getByRole('button', { name: 'More', exact: true }).click();
			await page.getByRole('menuitem', { name: 'Sign out' }).click();
			await page.getByLabel('Token').waitFor();
			expect(await devices()).toEqual([]);
			expect((await scene.providers.counts()).web.wrong).toEqual([]);
			expect(screen.errors).toEqual([]);
			await page.context().close();
		},
		{ providerFlags: ({ flags }) => flags.slice(14) },
	));

test('if notifications are impossible, the switch says why', async () => {
	const { people } = await here.scene(2);
	const { page } = await here.show(people[0], { permissions: ['notifications'] });
	await page.route('**/api/push.webKey', (route) =>
		route.fulfill({ json: { ok: false, error: 'web_push_off' } }),
	);
	const rejected = await openSwitch(page);
	await page.getByText('Web Push is disabled on this server.').waitFor();
	expect(await rejected.isDisabled()).toBe(true);
	await page.keyboard.press('Escape');

	// The server rejects the device. The browser's own push service is unreachable from here.
	await page.unroute('**/api/push.webKey');
	await page.route('**/api/push.webKey', (route) => route.fulfill({ json: { ok: true, key: 'AAAA' } }));
	await page.route('**/api/push.devices.add', (route) =>
		route.fulfill({ json: { ok: false, error: 'too_many_devices' } }),
	);
	await page.evaluate('PushManager.prototype.subscribe = async () => ({})');
	const crowded = await openSwitch(page);
	await crowded.click();
	await page.getByText('You have reached the maximum number of devices with notifications.').waitFor();
	expect([await crowded.isChecked(), await crowded.isDisabled()]).toEqual([false, false]);
	await page.keyboard.press('Escape');

	// In a browser that cannot ask, a permission that is not granted is blocked.
	await page.unroute('**/api/push.webKey');
	await page.context().clearPermissions();
	const blocked = await openSwitch(page);
	await blocked.click();
	await page.getByText('The browser blocks notifications from this page.').waitFor();
	expect(await blocked.isChecked()).toBe(false);

	await page.addInitScript('delete globalThis.PushManager');
	await page.reload();
	expect(await (await openSwitch(page)).isDisabled()).toBe(true);
	await page.getByText('This browser does not support notifications.').waitFor();

	const fine = { isSecure: true, isSupported: true, permission: 'granted', isTurnedOn: true } as const;
	expect(notificationStateOf(fine)).toBe('on');
	expect(notificationStateOf({ ...fine, isSecure: false, isSupported: false })).toBe('insecure');
	expect(notificationStateOf({ ...fine, permission: 'default' })).toBe('off');
	expect(notificationStateOf({ ...fine, isTurnedOn: false })).toBe('off');
});

test('the service worker is one script at the root, with the same policy, and is never cached', async () => {
	const answer = await fetch(`${here.server.url}/sw.js`);
	expect(answer.headers.get('content-type')).toStartWith('text/javascript');
	expect(answer.headers.get('cache-control')).toBe('no-cache');
	expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
	expect(await answer.text()).not.toMatch(/\bimport\b|\bexport\b/);
	const page = await fetch(here.server.url);
	expect(page.headers.get('content-security-policy')).toContain("worker-src 'self'");
	// Phones show notifications only for installed pages, which need a manifest.
	const [, address = ''] = /rel="manifest" href="([^"]+)"/.exec(await page.text()) ?? [];
	const manifest = (await (await fetch(here.server.url + address)).json()) as { icons: [{ src: string }] };
	expect(manifest).toMatchObject({ start_url: '/', display: 'standalone' });
	const icon = await fetch(here.server.url + manifest.icons[0].src);
	expect(icon.headers.get('content-type')).toBe('image/svg+xml');
});

test('a click opens the message, and unknown payloads are ignored', () => {
	const message = { title: '', body: '', tag: '', channel: 'C1', ts: '1717200000.123456', badge: 0 };
	expect(addressOf(message)).toBe('#/c/C1?at=1717200000.123456');
	expect(addressOf({ ...message, thread_ts: '1717100000.000001' })).toBe(
		'#/c/C1?at=1717100000.000001&thread=C1%3A1717100000.000001',
	);
	for (const text of ['', 'null', '{}', '{"type":"later"}']) expect(parsePushed(text)).toBeNull();
});
