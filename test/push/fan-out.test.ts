import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { DueNotification } from '../../src/engine/ports/push.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import { BACKLOG, FanOut, MEMBERS_PER_PAGE } from '../../src/push/fan-out.ts';
import { RecipientStates } from '../../src/push/recipient-states.ts';
import { BURST, UserPace } from '../../src/push/user-pace.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';

/** A message to very many users is processed page by page, and other messages get turns in between. */

const DEVICES = 1_800;
const name = (number: number): string => `U${String(number).padStart(5, '0')}`;

interface Scene {
	readonly store: Store;
	readonly fanOut: FanOut;
	readonly post: (conversation: Conversation, ts: number) => Promise<void>;
	readonly notificationsOf: (conversation: Conversation) => Promise<readonly DueNotification[]>;
}

const direct = { ...conversation('D01'), kind: 'im' as const, name: '', memberCount: 2 };

/** A channel with every user who has a device, and other users if requested; and a direct message between two of them. */
async function withLarge(
	{
		members,
		devices,
		nowMs = () => Date.now(),
	}: { readonly members: number; readonly devices: number; readonly nowMs?: () => number },
	work: (scene: Scene, large: Conversation) => Promise<void>,
): Promise<void> {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-push-'));
	const store = await openSqliteStore(directory, { push: true });
	const people = Array.from({ length: members }, (_, number) => name(number));
	const large = { ...conversation('C01'), memberCount: members };
	let leases = 0;
	const newLease = () => {
		leases += 1;
		return `lease-${leases}`;
	};
	try {
		await Promise.all(
			people.slice(0, devices).map((user) =>
				store.push.devices.add({
					id: `P${user}`,
					user,
					platform: 'apns',
					token: user,
					app: '',
					addedTs: BEGIN,
				}),
			),
		);
		await store.ledger.commit([
			created(large, people, BEGIN),
			created(direct, [name(0), name(devices - 1)], BEGIN),
		]);
		const fanOut = new FanOut({
			outbox: store.push.outbox,
			history: store.history,
			directory: store.directory,
			presence: { activeAmong: async () => new Set() },
			// Nothing here needs it: no message is a <!here>.
			recipients: new RecipientStates(undefined as never),
			nowMs,
			delayMs: 1_000,
			newLease,
			pace: new UserPace(nowMs),
		});
		const post = ({ id, memberCount }: Conversation, ts: number) =>
			store.ledger.commit([
				posted(
					{ ...conversation(id), memberCount },
					message(id, ts, { user: name(0), channelWide: id === large.id }),
				),
			]);
		const notificationsOf = async ({ id }: Conversation) => {
			const now = Date.now();
			const taken = await store.push.outbox.takeNotifications({
				id: newLease(),
				now,
				until: now,
				limit: 100_000,
			});
			return taken.filter((send) => send.conversation === id);
		};
		await work({ store, fanOut, post, notificationsOf }, large);
	} finally {
		await store.close();
		await rm(directory, { recursive: true });
	}
}

test.each([
	['devices', { members: DEVICES + 600, devices: DEVICES }],
	['members', { members: DEVICES, devices: DEVICES }],
] as const)('a mention of all members of a large channel delays no direct message (%s)', (_, size) =>
	withLarge(size, async ({ store, fanOut, post, notificationsOf }, large) => {
		const { outbox } = store.push;
		await post(large, BEGIN + 1);
		await post(direct, BEGIN + 2);
		await fanOut.round();
		const first = await outbox.sizes();
		// The direct message is done, and at most one page of the large channel.
		expect(first.pending).toBeGreaterThan(1);
		expect(first.pending).toBeLessThanOrEqual(MEMBERS_PER_PAGE + 1);
		expect(await notificationsOf(direct)).toHaveLength(1);
		let rounds = 1;
		while ((await fanOut.round()) > 0) rounds += 1;
		expect(rounds).toBeGreaterThanOrEqual(DEVICES / MEMBERS_PER_PAGE);
		// Everybody but the author, and the direct message.
		expect((await outbox.sizes()).pending).toBe(DEVICES - 1 + 1);
	}),
);

test('while many notifications wait, a large channel waits, and a direct message does not wait behind it', () =>
	withLarge(
		{ members: BACKLOG * 2, devices: BACKLOG * 2 },
		async ({ store, fanOut, post, notificationsOf }, large) => {
			await post(large, BEGIN + 1);
			while ((await fanOut.round()) > 0);
			const { pending } = await store.push.outbox.sizes();
			expect(pending).toBeGreaterThanOrEqual(BACKLOG);
			expect(pending).toBeLessThan(BACKLOG + MEMBERS_PER_PAGE);
			await post(direct, BEGIN + 2);
			expect(await fanOut.round()).toBe(1);
			expect(await notificationsOf(direct)).toHaveLength(1);
			// The notifications are done, and the fan-out continues.
			for (const notification of await notificationsOf(large))
				await store.push.outbox.recordResult(notification, { type: 'dropped' });
			expect(await fanOut.round()).toBe(1);
		},
	));

test('a user who gets very many posts delays nobody: others are in the next batch', () => {
	// The clock stands still, so nothing more becomes due, however long this takes.
	const now = Date.now();
	return withLarge({ members: 3, devices: 3, nowMs: () => now }, async ({ store, fanOut, post }, large) => {
		const flooded = BURST * 4;
		const numbers = Array.from({ length: flooded }, (_, number) => number + 1);
		await Promise.all(numbers.map((number) => post(direct, BEGIN + number)));
		await post(large, BEGIN + flooded + 1);
		const { outbox } = store.push;
		for (let rounds = 0; (await outbox.sizes()).pending < flooded + 2; rounds += 1) {
			expect(rounds).toBeLessThan(50);
			await fanOut.round();
		}
		const batch = await outbox.takeNotifications({ id: 'batch', now, until: now + 60_000, limit: BURST * 2 });
		const others = batch.filter(({ user }) => user !== name(2));
		expect(others.map(({ user, conversation }) => [user, conversation])).toEqual([[name(1), large.id]]);
		expect(batch.length - others.length).toBe(BURST);
	});
});

test('a user gets a burst at once, then an even rate; the limit is forgotten when the burst is full again', () => {
	let now = 1_000_000;
	const pace = new UserPace(() => now);
	const waits = Array.from({ length: BURST + 50 }, () => pace.next('U1'));
	expect(waits.slice(0, BURST)).toEqual(Array.from({ length: BURST }, () => 0));
	expect(waits.at(-1)).toBe(1_000);
	expect(pace.next('U2')).toBe(0);
	expect(pace.size).toBe(2);
	now += 120_000;
	expect(pace.next('U3')).toBe(0);
	expect(pace.size).toBe(1);
});
