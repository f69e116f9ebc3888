import { expect, test } from 'bun:test';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config.ts';
import { configuredVapidKey, vapidKeyIn } from '../../src/app/vapid-key.ts';
import { newVapidKey } from '../../src/push/web/vapid.ts';
import { rawClient } from '../support/api.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { withDirectory } from '../support/process.ts';
import { startEmbedded } from '../support/server.ts';
import { FakeBrowser } from './fake-browser.ts';
import { degradedOf, linesOfAbsence, type PushScene, until, withPush } from './push-server.ts';

/** Browsers: from a message to the payload of a service worker, against a push service that decrypts as a browser does. */

async function browser({ providers }: PushScene, person: Person, name = `browser-${person.name}`) {
	const { key } = await person.call('push.webKey');
	const token = await providers.subscribe(name, key);
	expect(await person.call('push.devices.add', { platform: 'web', token })).toEqual({ ok: true });
	return { name, token };
}

const dm = async (from: Person, to: Person): Promise<string> =>
	(await from.call('conversations.open', { users: to.id })).channel.id;

const receivedBy = ({ providers }: PushScene, name: string, count: number) =>
	until(
		() => providers.phone(name),
		({ received }) => received >= count,
	);

/** Only Web Push, with the key that the server creates for itself. */
const onlyWeb = { providerFlags: ({ flags }: { flags: readonly string[] }) => flags.slice(14) };

/** Each of these is rejected with this error, and changes nothing. */
async function expectRejections(scene: PushScene, anna: Person): Promise<void> {
	const good = JSON.parse(await scene.providers.subscribe('good', (await anna.call('push.webKey')).key));
	const changed = (change: object) => JSON.stringify({ ...good, ...change });
	const keys = (change: object) => changed({ keys: { ...good.keys, ...change } });
	const cases: [string, string][] = [
		['not-json', 'not the JSON of a PushSubscription'],
		['null', 'endpoint is not a URL'],
		[changed({ endpoint: 7 }), 'endpoint is not a URL'],
		[changed({ endpoint: good.endpoint.replace('https', 'http') }), 'must be an https URL'],
		[changed({ endpoint: good.endpoint.replace('//', '//a:b@') }), 'must be an https URL'],
		[changed({ endpoint: 'https://169.254.169.254/latest' }), 'does not allow the push service'],
		[changed({ endpoint: 'https://localhost.example.org/x' }), 'does not allow the push service'],
		[changed({ endpoint: 'https://localhost:1/x' }), 'does not allow the push service'],
		[changed({ keys: null }), 'keys.p256dh'],
		[keys({ p256dh: good.keys.p256dh.slice(0, -2) }), 'keys.p256dh'],
		[keys({ p256dh: Buffer.alloc(65, 4).toString('base64url') }), 'keys.p256dh'],
		[keys({ auth: 'c2hvcnQ' }), 'keys.auth'],
		[keys({ auth: `${good.keys.auth}AAAA` }), 'keys.auth'],
	];
	const call = rawClient(scene.url, anna.token);
	for (const [token, words] of cases) {
		const answer = await call('push.devices.add', { platform: 'web', token });
		expect([token, answer.error]).toEqual([token, 'invalid_arguments']);
		const said = JSON.stringify(answer.response_metadata);
		expect(said).toContain('token: ');
		expect(said).toContain(words);
		expect(said).not.toContain(new URL(good.endpoint).pathname);
	}
	expect((await anna.call('push.devices.list')).devices).toEqual([]);
}

test('a message arrives encrypted with the badge and is withdrawn when it is read elsewhere; a subscription moves to the next user of its browser', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		await expectRejections(scene, anna);
		const laptop = await browser(scene, anna);
		const desk = await browser(scene, anna, 'the-desk');
		const old = await browser(scene, anna, 'old-service');
		const channel = await dm(ben, anna);
		const text = `hello <@${anna.id}> &amp; \u{1F30A}`;
		const { ts } = await ben.call('chat.postMessage', { channel, text });
		for (const { name } of [laptop, desk, old]) {
			const { badge, shown } = await receivedBy(scene, name, 1);
			expect(badge).toBe((await anna.call('client.counts')).badge);
			expect(shown).toEqual({
				[`${channel}:${ts.replace('.', '')}`]: { title: 'person-1', body: 'hello @person-0 & \u{1F30A}' },
			});
		}
		expect(JSON.parse((await scene.providers.payloads(laptop.name))[0] ?? '')).toMatchObject({ channel, ts });
		const markedAt = Date.now();
		await anna.call('conversations.mark', { channel, ts });
		for (const { name } of [laptop, desk, old]) {
			const after = await until(
				() => scene.providers.phone(name),
				({ withdrawn }) => withdrawn === 1,
			);
			expect(after).toMatchObject({ shown: {}, badge: 0, withdrawn: 1 });
			expect((after.updates[0]?.at ?? 0) - markedAt).toBeLessThan(2_000);
		}

		// Somebody else signs in at Anna's laptop: the same subscription, encoded differently.
		const { endpoint, keys } = JSON.parse(laptop.token);
		const respelled = JSON.stringify({ keys: { auth: keys.auth, p256dh: `${keys.p256dh}=` }, endpoint });
		await ben.call('push.devices.add', { platform: 'web', token: respelled });
		const owned = async (person: Person) => (await person.call('push.devices.list')).devices.length;
		expect([await owned(anna), await owned(ben)]).toEqual([2, 1]);
		await ben.call('chat.postMessage', { channel, text: 'once more' });
		for (const { name } of [desk, old]) expect((await receivedBy(scene, name, 2)).received).toBe(2);
		expect((await scene.providers.phone(laptop.name)).received).toBe(1);
		expect(await ben.call('push.devices.remove', { platform: 'web', token: laptop.token })).toEqual({
			ok: true,
		});
		expect(await owned(ben)).toBe(0);

		const counts = await scene.providers.counts();
		expect(counts).toMatchObject({ sent: 5, doubled: 0, repeated: 0 });
		// One connection and one JWT for all pushes to this service.
		expect(counts.web).toEqual({ connections: 1, tokens: 1, wrong: [] });
	}, onlyWeb));

test('gone subscriptions are removed, too large pushes are given up, rate-limited and failed ones are retried', () =>
	withPush(async (scene) => {
		const { people, admin } = await makeWorkspace(scene.url, 7);
		const [author, ...others] = people as [Person, ...Person[]];
		const names = ['gone-1', 'bad-1', 'large-1', 'throttled-1-x', 'failing-1-x', 'fine'];
		for (const [index, name] of names.entries()) await browser(scene, others[index] as Person, name);
		const { channel } = await author.call('conversations.create', { name: 'all' });
		const users = others.map(({ id }) => id).join();
		await author.call('conversations.invite', { channel: channel.id, users });
		const postedAt = Date.now();
		await author.call('chat.postMessage', { channel: channel.id, text: 'once' });
		await receivedBy(scene, 'throttled-1-x', 1);
		// The service asked to wait a second.
		expect(Date.now() - postedAt).toBeGreaterThan(990);
		const counts = await until(
			() => scene.providers.counts(),
			({ sent }) => sent === 3,
		);
		expect(counts).toMatchObject({ sent: 3, doubled: 0, web: { wrong: [] } });
		const listed = await until(
			() => admin('admin.push.list'),
			({ pending, dead, devices }) => pending === 0 && dead === 1 && devices === 4,
		);
		expect(listed).toMatchObject({ pending: 0, dead: 1, devices: 4 });
		expect(listed.items[0].error).toMatch(/^413 by localhost:\d+$/);
		expect(await degradedOf(scene)).toEqual([]);
	}, onlyWeb));

test('a rejected key causes one log line, a degraded state and no loss; one bad subscription blocks nobody', () =>
	withPush(
		async (scene) => {
			const { people, admin } = await makeWorkspace(scene.url, 3);
			const [anna, ben, mallory] = people as [Person, Person, Person];
			const { name, token } = await browser(scene, anna);
			const channel = await dm(ben, anna);
			await scene.providers.faults({ revoked: true });
			for (const text of ['1', '2', '3']) await ben.call('chat.postMessage', { channel, text });
			const degraded = await until(
				() => degradedOf(scene),
				(found) => found.length > 0,
			);
			expect(degraded).toHaveLength(1);
			expect(degraded[0]).toMatch(
				/^web, since .*: rejected with 403 by localhost:\d+: check that TIDEMARK_VAPID/,
			);
			// Long enough for several attempts.
			await Bun.sleep(1_500);
			expect(linesOfAbsence(scene)).toHaveLength(1);
			expect(await admin('admin.push.list')).toMatchObject({ pending: 3, dead: 0 });
			await scene.providers.faults({ revoked: false });
			expect(await receivedBy(scene, name, 3)).toMatchObject({ received: 3 });
			expect(
				await until(
					() => degradedOf(scene),
					(found) => found.length === 0,
				),
			).toEqual([]);

			// Mallory's browser subscribed to another server: only this browser gets nothing.
			const foreign = await scene.providers.subscribe('foreign', newVapidKey().publicKey);
			await mallory.call('push.devices.add', { platform: 'web', token: foreign });
			await ben.call('chat.postMessage', { channel: await dm(ben, mallory), text: 'hi' });
			await ben.call('chat.postMessage', { channel, text: '4' });
			expect((await receivedBy(scene, name, 4)).received).toBe(4);
			const left = await until(
				() => admin('admin.push.list'),
				({ pending }) => pending === 1,
			);
			expect(left).toMatchObject({ pending: 1, dead: 0 });
			expect(await degradedOf(scene)).toEqual([]);
			expect(linesOfAbsence(scene)).toHaveLength(1);

			const { endpoint, keys } = JSON.parse(token);
			const output = [scene.server().out(), scene.server().err(), JSON.stringify(degraded)].join('\n');
			const secrets = [new URL(endpoint).pathname, keys.auth, keys.p256dh, 'vapid t='];
			for (const secret of secrets) expect(output).not.toContain(secret);
		},
		{ ...onlyWeb, flags: ['--log-level', 'debug'] },
	));

test('the key is created once, readable only by its owner; a damaged key is not replaced silently', () =>
	withDirectory(async (directory) => {
		const file = join(directory, 'vapid-key');
		const key = (flags: Readonly<Record<string, string>> = {}) =>
			vapidKeyIn(readConfig({ 'data-dir': directory, ...flags }, {}));
		const made = await key();
		expect((await stat(file)).mode & 0o777).toBe(0o600);
		expect(await key()).toEqual(made);
		const other = newVapidKey();
		expect(await key({ 'vapid-private-key': other.privateKey })).toEqual(other);
		expect(await key({ 'web-push': 'off' })).toBeNull();
		await writeFile(file, 'secret-but-no-key');
		const error = await key().catch(String);
		expect(error).toContain(`${file} is not a private key of P-256`);
		expect(error).not.toContain('secret-but-no-key');
		// A cluster has no directory to store a key in.
		const cluster = (flags: Readonly<Record<string, string>>) => configuredVapidKey(readConfig(flags, {}));
		expect(cluster({})).toBeNull();
		expect(cluster({ 'vapid-private-key': other.privateKey })).toEqual(other);
		expect(() => cluster({ 'vapid-private-key': 'c2VjcmV0' })).toThrow(
			'--vapid-private-key is not a private key of P-256 (32 bytes, base64url)',
		);
	}));

test('disabled Web Push says so, rejects browsers, and creates no key', async () => {
	const server = await startEmbedded({ 'web-push': 'off' });
	const { people } = await makeWorkspace(server.url, 1);
	const call = rawClient(server.url, people[0]?.token ?? '');
	const token = new FakeBrowser('https://fcm.googleapis.com/x', newVapidKey().publicKey).subscription();
	expect(await call('push.webKey')).toMatchObject({ ok: false, error: 'web_push_off' });
	const added = await call('push.devices.add', { platform: 'web', token });
	expect(added).toMatchObject({ ok: false, error: 'web_push_off' });
	expect(await Bun.file(join(server.dataDir, 'vapid-key')).exists()).toBe(false);
	await server.stop();
});
