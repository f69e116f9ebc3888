import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Fact } from '../../src/engine/ports/facts.ts';
import type { Lease, NewNotification, PushOutbox } from '../../src/engine/ports/push.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import {
	BEGIN,
	conversation,
	created,
	cursor,
	deleted,
	edited,
	followed,
	left,
	message,
	posted,
	unfollowed,
	user,
} from '../support/store/facts.ts';

/** What push needs from a store, on any database. */

export interface PushPlace {
	open(push: boolean): Promise<Store>;
	remove(): Promise<void>;
}

const NOW = 1_700_000_100_000;
let leases = 0;
const lease = (now = NOW, limit = 100): Lease => {
	leases += 1;
	return { id: `lease-${leases}`, now, until: now + 60_000, limit };
};

const channel = conversation('C01');
const TS = BEGIN + 10;
const device = (user: string, token = `token-of-${user}`) => ({
	id: `P-${user}-${token}`,
	user,
	platform: 'apns' as const,
	token,
	app: '',
	addedTs: BEGIN,
});

const muted = (user: string): Fact => ({
	type: 'preference',
	user,
	conversation: channel.id,
	at: TS + 1,
	muted: true,
	level: 'all',
});

export function describePushContract(name: string, place: () => Promise<PushPlace>): void {
	describe(`push on ${name}`, () => {
		let here: PushPlace;
		let store: Store;
		let outbox: PushOutbox;
		beforeEach(async () => {
			here = await place();
			store = await here.open(true);
			outbox = store.push.outbox;
			await store.ledger.commit([created(channel, ['U01', 'U02', 'U03', 'U04'])]);
		});
		afterEach(async () => {
			await store.close();
			await here.remove();
		});

		const post = (fields = {}, ts = TS) =>
			store.ledger.commit([
				posted({ ...channel, memberCount: 4 }, message(channel.id, ts, { user: 'U01', ...fields })),
			]);
		const key = { conversation: channel.id, ts: TS };
		const send = (user: string, nextAt = NOW) => ({ ...key, device: device(user).id, user, nextAt });
		const pending = async (...users: string[]) => {
			for (const user of users) await store.push.devices.add(device(user));
			await advance(null, ...users.map((user) => send(user)));
		};

		const entry = { ...key, because: 'posted' as const, round: 0, after: '' };
		const advance = (next: string | null, ...notifications: NewNotification[]) =>
			outbox.advance(entry, { notifications, recheck: [], next, now: NOW });

		test('a post is one row, which one worker takes, and is due again when the lease ends', async () => {
			await post();
			expect(await outbox.takeMessages(lease(), true)).toEqual([entry]);
			expect(await outbox.takeMessages(lease(), true)).toEqual([]);
			expect(await outbox.takeMessages(lease(NOW + 61_000), true)).toHaveLength(1);
			await advance('U02');
			expect(await outbox.takeMessages(lease(NOW + 1), false)).toEqual([]);
			expect(await outbox.takeMessages(lease(NOW + 1), true)).toEqual([{ ...entry, after: 'U02' }]);
			await advance(null);
			expect(await outbox.takeMessages(lease(NOW + 61_000), true)).toEqual([]);
		});

		test('a post that changes while its members are processed is processed again, and users with a notification are checked', async () => {
			await post();
			const [first] = await outbox.takeMessages(lease(), true);
			await store.ledger.commit([deleted(channel, message(channel.id, TS, { user: 'U01' }), TS + 3)]);
			for (const user of ['U02', 'U03']) await store.push.devices.add(device(user));
			// A worker that took the row before it changed adds its sends, and does not finish the row.
			expect(first).toEqual(entry);
			await advance(null, send('U02'), send('U03'));
			const again = { ...entry, round: 1 };
			expect(await outbox.takeMessages(lease(), true)).toEqual([again]);
			await outbox.recordResult(send('U02'), { type: 'dead', attempts: 1, error: 'BadTopic' });
			const devices = ['U02', 'U03', 'U04'].map((user) => device(user).id);
			expect([...(await outbox.shownOn(key, devices))]).toEqual([device('U03').id]);
			await outbox.advance(again, { notifications: [], recheck: ['U03'], next: null, now: NOW });
			expect(await outbox.takeMessages(lease(NOW + 61_000), true)).toEqual([]);
			expect((await outbox.takeReads(lease())).map(({ user }) => user)).toEqual(['U03']);
		});

		test('a delete is one row; an edit is one row if it mentions other users than before', async () => {
			const before = message(channel.id, TS, { user: 'U01', named: ['U02'] });
			await store.ledger.commit([edited(channel, before, TS + 1, 'other words')]);
			expect(await outbox.takeMessages(lease(), true)).toEqual([]);
			await store.ledger.commit([edited(channel, before, TS + 2, 'to <@U03>', { named: ['U03'] })]);
			expect(await outbox.takeMessages(lease(), true)).toEqual([{ ...entry, because: 'changed', round: 1 }]);
		});

		test('a user who reads while a notification is sent to them is checked afterwards', async () => {
			await pending('U02', 'U03');
			await store.ledger.commit([cursor('U02', channel.id, TS, TS + 1)]);
			const [read] = await outbox.takeReads(lease());
			if (!read) throw new Error('nobody has read anything');
			for (const user of ['U02', 'U03']) await outbox.recordResult(send(user), { type: 'sent', badge: 1 });
			await outbox.withdrawn(read, { notifications: [], badge: null, nextAt: NOW });
			const [again, ...others] = await outbox.takeReads(lease());
			expect([again?.user, others]).toEqual(['U02', []]);
			if (!again) throw new Error('it was not looked at again');
			await outbox.postpone(again, NOW + 700);
			expect(await outbox.takeReads(lease(NOW + 699))).toEqual([]);
			expect(await outbox.takeReads(lease(NOW + 700))).toEqual([again]);
		});

		test.each([
			['muting', muted('U02')],
			['leaving', left(channel, 'U02', TS + 1)],
			['unfollowing', unfollowed(channel, 'U02', BEGIN + 5, TS + 1)],
		])('%s may lower a badge', async (_, fact) => {
			await store.ledger.commit([fact]);
			expect((await outbox.takeReads(lease())).map(({ user }) => user)).toEqual(['U02']);
		});

		test('with push disabled, a post leaves nothing to do', async () => {
			await store.close();
			store = await here.open(false);
			await post();
			await store.ledger.commit([cursor('U02', channel.id, TS, TS + 1)]);
			expect(await store.push.outbox.takeMessages(lease(), true)).toEqual([]);
			expect(await store.push.outbox.takeReads(lease())).toEqual([]);
		});

		test('two workers that take rows at once get different ones, and together all of them', async () => {
			for (let number = 0; number < 40; number += 1) await post({}, TS + number);
			const taken = await Promise.all([1, 2, 3].map(() => outbox.takeMessages(lease(NOW, 15), true)));
			const all = taken.flat().map(({ ts }) => ts);
			expect(new Set(all).size).toBe(all.length);
			// A row that is being taken is skipped, so a worker may get fewer; no row is taken twice.
			expect(all.length).toBeGreaterThanOrEqual(15);
		});

		test.each(['members', 'devices'] as const)('candidates among %s are read page by page', async (of) => {
			for (const user of ['U02', 'U03', 'U04', 'U99']) await store.push.devices.add(device(user));
			await store.push.devices.add(device('U03', 'second'));
			await post();
			await store.ledger.commit([cursor('U04', channel.id, TS, TS + 1)]);
			const found = [];
			let after: string | null = '';
			let pages = 0;
			while (after !== null) {
				const page = await outbox.candidates(key, { of, threadTs: null }, after, 2);
				found.push(...page.candidates);
				after = page.next;
				pages += 1;
			}
			expect(pages).toBe(3);
			expect(found.map(({ user, devices, read }) => [user, devices.length, read])).toEqual([
				['U02', 1, false],
				['U03', 2, false],
				['U04', 1, true],
			]);
		});

		test.each([
			['a row of its own', { ahead: { add: [TS] } }],
			['a list in its membership', { of: { joined: BEGIN, cursor: 0, revision: 0, ahead: [TS] } }],
		])('a message in the ahead set is read: %s', async (_, fields) => {
			await pending('U02', 'U03');
			await post();
			await store.ledger.commit([cursor('U02', channel.id, 0, TS + 1, fields)]);
			const { candidates } = await outbox.candidates(key, { of: 'members', threadTs: null }, '', 10);
			expect(candidates.map(({ user, read }) => [user, read])).toEqual([
				['U02', true],
				['U03', false],
			]);
			const taken = await outbox.takeNotifications(lease());
			expect(taken.map(({ user, ahead }) => [user, ahead]).sort()).toEqual([
				['U02', true],
				['U03', false],
			]);
			await outbox.recordResult(send('U02'), { type: 'sent', badge: 1 });
			expect(await outbox.shown('U02')).toMatchObject([{ ...key, ahead: true }]);
		});

		test('for followers of a thread, the thread’s cursor decides', async () => {
			for (const user of ['U02', 'U03', 'U04']) await store.push.devices.add(device(user));
			const root = BEGIN + 5;
			await store.ledger.commit([
				followed(channel, 'U02', root, root, root),
				followed(channel, 'U03', root, root + 1, TS),
				cursor('U02', channel.id, TS, TS),
			]);
			await post({ threadTs: root });
			const { candidates } = await outbox.candidates(key, { of: 'followers', threadTs: root }, '', 10);
			expect(candidates.map(({ user, read, follows }) => [user, read, follows])).toEqual([
				['U02', false, true],
				['U03', true, true],
			]);
		});

		test('a notification has the snooze of its user, also if the user snoozed after it was queued', async () => {
			await store.directory.createUser(user('U02'));
			await pending('U02', 'U03');
			await store.directory.snooze('U02', TS + 9);
			const taken = await outbox.takeNotifications(lease());
			expect(taken.map((one) => [one.user, one.snoozedUntilTs]).sort()).toEqual([
				['U02', TS + 9],
				['U03', 0],
			]);
		});

		test('a message goes to a device once', async () => {
			await pending('U02');
			await advance(null, send('U02'));
			const [taken, ...more] = await outbox.takeNotifications(lease());
			expect(more).toEqual([]);
			expect(taken).toMatchObject({ ...key, user: 'U02', attempts: 1, ahead: false });
			expect(taken?.to?.token).toBe('token-of-U02');
			await outbox.recordResult(send('U02'), { type: 'sent', badge: 3 });
			await advance(null, send('U02'));
			expect(await outbox.takeNotifications(lease(NOW + 61_000))).toEqual([]);
			expect((await store.push.devices.ofUser('U02'))[0]?.badge).toBe(3);
		});

		test('due sends are counted, up to a limit', async () => {
			await pending('U02', 'U03', 'U04');
			await outbox.recordResult(send('U02'), { type: 'again', attempts: 1, nextAt: NOW + 500, error: '500' });
			expect(await outbox.dueNotifications(NOW, 10)).toBe(2);
			expect(await outbox.dueNotifications(NOW, 1)).toBe(1);
			expect(await outbox.dueNotifications(NOW + 500, 10)).toBe(3);
		});

		test('failed sends are retried, then dead, and can be replayed', async () => {
			await pending('U02');
			await outbox.takeNotifications(lease());
			await outbox.recordResult(send('U02'), { type: 'again', attempts: 1, nextAt: NOW + 500, error: '500' });
			expect(await outbox.takeNotifications(lease(NOW + 499))).toEqual([]);
			expect(await outbox.takeNotifications(lease(NOW + 500))).toMatchObject([{ attempts: 2 }]);
			await outbox.recordResult(send('U02'), { type: 'dead', attempts: 2, error: 'BadTopic' });
			expect(await outbox.dead(10)).toMatchObject([{ user: 'U02', attempts: 2, error: 'BadTopic' }]);
			expect(await outbox.sizes()).toEqual({ devices: 1, pending: 0, dead: 1 });
			expect(await outbox.replay(NOW + 700)).toBe(1);
			expect(await outbox.takeNotifications(lease(NOW + 700))).toMatchObject([{ attempts: 1 }]);
		});

		test('removing a device removes its sends', async () => {
			await pending('U02', 'U03');
			await outbox.recordResult(send('U02'), { type: 'gone' });
			expect(await store.push.devices.ofUser('U02')).toEqual([]);
			expect((await outbox.takeNotifications(lease())).map(({ user }) => user)).toEqual(['U03']);
		});

		test('a token that moves to another user leaves the first one', async () => {
			await pending('U02');
			await store.push.devices.add({ ...device('U03'), token: 'token-of-U02' });
			expect(await store.push.devices.ofUser('U02')).toEqual([]);
			expect(await store.push.devices.ofUser('U03')).toMatchObject([{ token: 'token-of-U02', badge: 0 }]);
			// Notifications for the first user have no target any more.
			expect(await outbox.takeNotifications(lease())).toMatchObject([{ user: 'U02', to: null }]);
			expect(await store.push.devices.remove('U02', 'apns', 'token-of-U02')).toBe(false);
			expect(await store.push.devices.remove('U03', 'apns', 'token-of-U02')).toBe(true);
			expect(await store.push.devices.ofUser('U03')).toEqual([]);
		});

		test('a mark records that the user read; this is processed once, and the next mark records it again', async () => {
			await pending('U02');
			await outbox.takeNotifications(lease());
			await outbox.recordResult(send('U02'), { type: 'sent', badge: 1 });
			await store.ledger.commit([cursor('U02', channel.id, TS, TS + 1)]);
			const [entry] = await outbox.takeReads(lease());
			if (!entry) throw new Error('nobody has read anything');
			expect(await outbox.takeReads(lease())).toEqual([]);
			const shown = await outbox.shown('U02');
			expect(shown).toMatchObject([{ ...key, ahead: false }]);
			// A mark in between is not lost.
			await store.ledger.commit([cursor('U02', channel.id, TS + 5, TS + 2)]);
			await outbox.withdrawn(entry, { notifications: shown, badge: 0, nextAt: NOW + 2_000 });
			expect(await outbox.shown('U02')).toEqual([]);
			expect((await store.push.devices.ofUser('U02'))[0]?.badge).toBe(0);
			expect(await outbox.takeReads(lease(NOW + 1_999))).toEqual([]);
			const [again] = await outbox.takeReads(lease(NOW + 2_000));
			if (!again) throw new Error('the mark in between was lost');
			await outbox.withdrawn(again, { notifications: [], badge: null, nextAt: NOW });
			expect(await outbox.takeReads(lease(NOW + 90_000))).toEqual([]);
			await outbox.tidy(0, NOW + 90_000);
			await store.ledger.commit([cursor('U02', channel.id, TS + 6, TS + 3)]);
			expect(await outbox.takeReads(lease())).toHaveLength(1);
		});

		test('a restart returns taken rows', async () => {
			await post();
			await pending('U02');
			await outbox.takeNotifications(lease());
			await outbox.releaseAll(NOW);
			expect(await outbox.takeNotifications(lease())).toHaveLength(1);
		});
	});
}
