import { expect, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { makeWorkspace, type Person } from '../support/people.ts';
import {
	degradedOf,
	linesOfAbsence,
	type PushScene,
	type SceneOptions,
	until,
	withPush,
} from './push-server.ts';

/** Failures of a provider: one clear log line, a degraded state, and posting continues. */

/** A post succeeds while the provider is unavailable; the notification is neither lost nor shown. */
async function postingGoesOn(scene: PushScene): Promise<{ people: readonly Person[]; channel: string }> {
	const { people } = await makeWorkspace(scene.url, 2);
	const [anna, ben] = people as [Person, Person];
	await anna.call('push.devices.add', { platform: 'apns', token: 'annas-phone' });
	const { channel } = await ben.call('conversations.open', { users: anna.id });
	for (let number = 0; number < 5; number += 1)
		expect(await ben.call('chat.postMessage', { channel: channel.id, text: `${number}` })).toMatchObject({
			ok: true,
		});
	return { people, channel: channel.id };
}

const onlyApns = (replace: Readonly<Record<string, string>>): SceneOptions => ({
	providerFlags: ({ flags }) =>
		flags.slice(0, 10).map((flag, index, all) => replace[all[index - 1] ?? ''] ?? flag),
});

async function degradedOnce(scene: PushScene, cause: RegExp): Promise<void> {
	await postingGoesOn(scene);
	const degraded = await until(
		() => degradedOf(scene),
		(found) => found.length > 0,
	);
	expect(degraded).toHaveLength(1);
	expect(degraded[0]).toMatch(cause);
	// Long enough for several attempts, which are not logged again.
	await Bun.sleep(2_500);
	expect(linesOfAbsence(scene)).toHaveLength(1);
	expect(linesOfAbsence(scene)[0]).toMatch(cause);
	const { admin } = await makeWorkspace(scene.url, 0, 'Others');
	expect(await admin('admin.push.list')).toMatchObject({ pending: 5, dead: 0 });
	expect((await scene.providers.counts()).sent).toBe(0);
}

test('a missing key file is reported', () =>
	withPush(
		(scene) => degradedOnce(scene, /the key file \/no\/such\/file cannot be read \(ENOENT\)/),
		onlyApns({ '--apns-key-file': '/no/such/file' }),
	));

test('a wrong key is reported', () =>
	withPush(
		(scene) => degradedOnce(scene, /403 InvalidProviderToken: check TIDEMARK_APNS_KEY_FILE/),
		onlyApns({ '--apns-team-id': 'ANOTHER001' }),
	));

test('an unreachable host is reported', () =>
	withPush(
		(scene) => degradedOnce(scene, /localhost:1 is not reachable/),
		onlyApns({ '--apns-host': 'https://localhost:1' }),
	));

test('an account is revoked and restored: everything arrives once', () =>
	withPush(async (scene) => {
		await scene.providers.faults({ revoked: true });
		await degradedOnce(scene, /403 InvalidProviderToken/);
		await scene.providers.faults({ revoked: false });
		const counts = await until(
			() => scene.providers.counts(),
			({ sent }) => sent === 5,
		);
		expect(counts).toMatchObject({ sent: 5, doubled: 0, repeated: 0 });
		const degraded = await until(
			() => degradedOf(scene),
			(found) => found.length === 0,
		);
		expect(degraded).toEqual([]);
	}, onlyApns({})));

test('a revoked service account is reported', () =>
	withPush(
		async (scene) => {
			await scene.providers.faults({ revoked: true });
			const { people } = await makeWorkspace(scene.url, 2);
			const [anna, ben] = people as [Person, Person];
			await anna.call('push.devices.add', { platform: 'fcm', token: 'annas-android' });
			const { channel } = await ben.call('conversations.open', { users: anna.id });
			await ben.call('chat.postMessage', { channel: channel.id, text: 'hi' });
			const degraded = await until(
				() => degradedOf(scene),
				(found) => found.length > 0,
			);
			expect(degraded[0]).toMatch(/^fcm, since .*(rejected the service account|401 UNAUTHENTICATED)/);
			await scene.providers.faults({ revoked: false });
			const counts = await until(
				() => scene.providers.counts(),
				({ sent }) => sent === 1,
			);
			expect(counts).toMatchObject({ sent: 1, doubled: 0 });
		},
		{ providerFlags: ({ flags }) => flags.slice(10) },
	));

test('the log contains no secrets', () =>
	withPush(
		async (scene) => {
			await writeFile(scene.providers.keyFile, 'not a key, but a secret: 4711');
			await scene.kill();
			await postingGoesOn(scene);
			const degraded = await until(
				() => degradedOf(scene),
				(found) => found.length > 0,
			);
			expect(degraded[0]).toMatch(/contains no private key for ES256/);
			const reported = [scene.server().out(), scene.server().err(), JSON.stringify(degraded)].join('\n');
			for (const secret of ['4711', 'annas-phone', 'PRIVATE KEY']) expect(reported).not.toContain(secret);
		},
		{ ...onlyApns({}), flags: ['--log-level', 'debug'] },
	));

test('connections end in mid-stream, by GOAWAY and by being cut: nothing is lost or sent twice', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		await anna.call('push.devices.add', { platform: 'apns', token: 'annas-phone' });
		const { channel } = await ben.call('conversations.open', { users: anna.id });
		await scene.providers.faults({ goAwayEvery: 37, cutEvery: 53 });
		await Promise.all(
			Array.from({ length: 300 }, (_, number) =>
				ben.call('chat.postMessage', { channel: channel.id, text: `${number}` }),
			),
		);
		const counts = await until(
			() => scene.providers.counts(),
			({ sent }) => sent === 300,
		);
		expect(counts).toMatchObject({ sent: 300, doubled: 0 });
		// The failure did happen.
		expect(counts.connections).toBeGreaterThan(5);
		expect(counts.repeated).toBeGreaterThan(0);
	}, onlyApns({})));
