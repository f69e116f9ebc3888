import { expect, test } from 'bun:test';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Device } from '../../src/engine/ports/push.ts';
import type { PushOutcome, PushProvider } from '../../src/push/provider.ts';
import { Providers } from '../../src/push/providers.ts';
import { isAllowed, KNOWN_HOSTS } from '../../src/push/web/allowed-hosts.ts';
import { outcomeOf } from '../../src/push/web/outcome.ts';
import { topicOf, withdrawalParts } from '../../src/push/web/payload.ts';
import { WebPushProvider } from '../../src/push/web/provider.ts';
import { MAX_SERVICES, PushServices } from '../../src/push/web/services.ts';
import { newVapidKey } from '../../src/push/web/vapid.ts';
import { withDirectory } from '../support/process.ts';
import { BEGIN, conversation, created, cursor, message, posted } from '../support/store/facts.ts';

/** The pure parts of Web Push. */

test.each([
	['fcm.googleapis.com', true],
	['updates.push.services.mozilla.com', true],
	['wns2-par02p.notify.windows.com', true],
	['web.push.apple.com', true],
	['push.apple.com', false],
	['evil-push.apple.com', false],
	['fcm.googleapis.com:8443', false],
	['fcm.googleapis.com.example.org', false],
	['localhost', false],
])('%s is a known push service: %p', (host, is) => {
	expect(isAllowed(host, KNOWN_HOSTS)).toBe(is);
});

test.each([
	[201, false, 'accepted'],
	[202, false, 'accepted'],
	[404, false, 'gone'],
	[410, false, 'gone'],
	[413, false, 'rejected'],
	[400, false, 'rejected'],
	[429, false, 'busy'],
	[406, false, 'busy'],
	[503, false, 'busy'],
	[401, false, 'unavailable'],
	[403, false, 'unavailable'],
	[403, true, 'busy'],
] as const)('%d, and others taken lately %p: %s', (status, acceptedLately, type) => {
	const answer = { status, headers: { 'retry-after': '7' }, body: 'about /push/secret' };
	const outcome = outcomeOf(answer, { host: 'push.example', acceptedLately, nowMs: 0 });
	expect(outcome.type).toBe(type);
	expect(JSON.stringify(outcome)).not.toContain('secret');
	if (outcome.type === 'busy' || outcome.type === 'unavailable') expect(outcome.retryAfterMs).toBe(7_000);
});

test('a withdrawal replaces the message that it is about, and never exceeds the size limit of a push', () => {
	const messages = Array.from({ length: 120 }, (_, index) => ({
		conversation: 'C0123456789',
		ts: 1_717_200_000_123_456 + index,
	}));
	const [first] = messages;
	if (!first) throw new Error('there is none');
	expect(withdrawalParts({ badge: 3, messages: [first] })).toEqual([
		{
			payload: '{"type":"withdrawn","badge":3,"tags":["C0123456789:1717200000123456"]}',
			topic: topicOf(first),
		},
	]);
	expect(topicOf(first)).toMatch(/^[\w-]{32}$/);
	const parts = withdrawalParts({ badge: 0, messages });
	expect(parts.map(({ topic }) => topic)).toEqual([null, null, null]);
	for (const { payload } of parts) expect(Buffer.byteLength(payload)).toBeLessThan(3_900);
	expect(parts.flatMap(({ payload }) => JSON.parse(payload).tags)).toHaveLength(120);
	// No notification to remove, but another badge.
	expect(withdrawalParts({ badge: 1, messages: [] })).toEqual([
		{ payload: '{"type":"withdrawn","badge":1,"tags":[]}', topic: null },
	]);
});

const at = (host: string): Device => ({
	id: 'P1',
	user: 'U1',
	platform: 'web',
	token: JSON.stringify({ endpoint: `https://${host}/x`, keys: { p256dh: '', auth: '' } }),
	app: '',
	badge: 0,
	addedTs: 0,
});

test('an unavailable push service is paused alone, reported once, and forgotten when nothing waits for it', () => {
	let now = 1_000_000;
	const reported: string[] = [];
	const provider = { endpointOf: ({ token }) => new URL(JSON.parse(token).endpoint).host } as PushProvider;
	const watch = {
		degraded: (platform: string, { message: why }: Error) => void reported.push(`${platform}: ${why}`),
		recovered: (platform: string) => void reported.push(`${platform} is back`),
	};
	const providers = new Providers(
		{ web: provider },
		watch,
		() => now,
		() => 1,
	);
	const [one, other] = [at('one.example'), at('other.example')];
	const unavailable: PushOutcome = { type: 'unavailable', error: 'no answer' };
	providers.recordOutcome(one, unavailable);
	providers.recordOutcome(one, unavailable);
	expect(providers.pausedUntil(one)).toBe(now + 1_000);
	expect([providers.pausedUntil(other), providers.allPaused()]).toEqual([0, false]);
	providers.recordOutcome(other, { type: 'accepted' });
	expect(reported).toEqual(['web: no answer']);
	providers.recordOutcome(other, unavailable);
	providers.recordOutcome(one, { type: 'busy', error: '429' });
	expect(reported.slice(1)).toEqual(['web: no answer']);
	providers.forget();
	now += 400_000;
	providers.forget();
	expect(reported.slice(2)).toEqual(['web is back']);
});

test('while the only provider in use is unavailable, nothing is taken', () => {
	const ignore = { degraded: () => undefined, recovered: () => undefined };
	const [apns, web] = [{ ...at('x'), platform: 'apns' as const }, at('one.example')];
	const provider = {} as PushProvider;
	const placed = { placeOf: () => 'one.example' } as unknown as PushProvider;
	const providers = new Providers(
		{ apns: provider, web: placed },
		ignore,
		() => 0,
		() => 1,
	);
	expect(providers.allPaused()).toBe(false);
	providers.recordOutcome(apns, { type: 'unavailable', error: 'no answer' });
	expect(providers.allPaused()).toBe(true);
	providers.recordOutcome(web, { type: 'accepted' });
	expect(providers.allPaused()).toBe(false);
});

test('the number of connections to push services is limited; idle ones make room', async () => {
	const services = new PushServices({ key: newVapidKey(), contact: 'mailto:a@example.com' }, () => 0);
	const { promise, resolve } = Promise.withResolvers<void>();
	const origin = (number: number) => `https://${number}.example`;
	const busy = Array.from({ length: MAX_SERVICES }, (_, number) =>
		services.use(origin(number), () => promise),
	);
	expect(await services.use(origin(99), async () => true)).toBeNull();
	resolve();
	await Promise.all(busy);
	expect(await services.use(origin(99), async () => true)).toBe(true);
	expect(services.size).toBe(1);
	services.close();
});

test('nothing that Safari would not show is sent to it, and nothing to a host that is no longer allowed', async () => {
	const provider = new WebPushProvider({
		key: newVapidKey(),
		contact: 'mailto:a@example.com',
		hosts: KNOWN_HOSTS,
		nowMs: () => 0,
	});
	const withdrawal = { badge: 0, messages: [{ conversation: 'C1', ts: 1 }] };
	// There is no such host, and it is not looked up.
	expect(await provider.withdraw(at('nowhere.push.apple.com'), withdrawal)).toEqual({ type: 'accepted' });
	expect(await provider.withdraw(at('192.168.0.1'), withdrawal)).toEqual({
		type: 'rejected',
		error: '192.168.0.1 is not in TIDEMARK_WEB_PUSH_HOSTS',
	});
	provider.close();
});

test('posts and marks are recorded from the first device on, and after a restart', () =>
	withDirectory(async (directory) => {
		const open = () => openSqliteStore(directory, { push: 'with devices' });
		let store = await open();
		const lease = { id: 'look', now: Date.now(), until: Date.now(), limit: 10 };
		const noted = async () => [
			(await store.push.outbox.takeMessages(lease, true)).length,
			(await store.push.outbox.takeReads(lease)).length,
		];
		const channel = { ...conversation('C01'), memberCount: 2 };
		const post = (ts: number) =>
			store.ledger.commit([
				posted(channel, message('C01', ts, { user: 'U01' })),
				cursor('U02', 'C01', ts, ts + 1),
			]);
		await store.ledger.commit([created(channel, ['U01', 'U02'], BEGIN)]);
		await post(BEGIN + 10);
		expect(await noted()).toEqual([0, 0]);
		const { id: _, ...device } = at('push.example');
		const adding = store.push.devices.add({ ...device, id: 'P01', user: 'U02' });
		await post(BEGIN + 20);
		await adding;
		expect(await noted()).toEqual([1, 1]);
		await store.close();
		store = await open();
		await post(BEGIN + 30);
		expect((await noted())[0]).toBe(2);
		await store.close();
	}));
