import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import { Meters } from '../../src/push/meters.ts';
import type { PushOutcome, PushProvider } from '../../src/push/provider.ts';
import { Providers } from '../../src/push/providers.ts';
import type { RecipientStates } from '../../src/push/recipient-states.ts';
import { Withdrawals } from '../../src/push/withdrawals.ts';
import { BEGIN, conversation, created, message, posted } from '../support/store/facts.ts';

/** Withdrawals of one user do not wait for those of another, and find devices that no longer exist. */

const channel = conversation('C01');
const TS = BEGIN + 1;
const USERS = ['U02', 'U03'] as const;

async function until(isSo: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
	for (const end = Date.now() + withinMs; !(await isSo()) && Date.now() < end; ) await Bun.sleep(20);
}

/** Each user has read a message that one device still shows, as soon as `addDeviceOf` was called. */
async function scene(withdraw: PushProvider['withdraw']) {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-push-'));
	const store = await openSqliteStore(directory, { push: true });
	const { outbox, devices } = store.push;
	const provider: PushProvider = {
		notify: async () => ({ type: 'accepted' }),
		withdraw,
		check: async () => null,
		close: () => undefined,
	};
	const watch = { degraded: () => undefined, recovered: () => undefined };
	const nowMs = () => Date.now();
	const failures: unknown[] = [];
	const meters = new Meters();
	const withdrawals = new Withdrawals({
		outbox,
		devices,
		history: store.history,
		directory: store.directory,
		recipients: { badge: async () => 0, of: async () => null } as unknown as RecipientStates,
		providers: new Providers({ apns: provider }, watch, nowMs, () => 0.5),
		meters,
		nowMs,
		newLease: () => crypto.randomUUID(),
		report: (error) => void failures.push(error),
	});
	await store.ledger.commit([created(channel, ['U01', ...USERS]), posted(channel, message(channel.id, TS))]);
	const addDeviceOf = async (user: string): Promise<void> => {
		const send = { device: `P${user}`, conversation: channel.id, ts: TS, user };
		await devices.add({ id: `P${user}`, user, platform: 'apns', token: user, app: '', addedTs: BEGIN });
		const entry = { conversation: channel.id, ts: TS, because: 'posted', round: 0, after: '' } as const;
		const notifications = [{ ...send, nextAt: 0 }];
		await outbox.advance(entry, { notifications, recheck: [], next: 'U', now: 0 });
		await outbox.recordResult(send, { type: 'sent', badge: 1 });
		await outbox.queueCheck(user);
	};
	const close = async (): Promise<void> => {
		await withdrawals.idle();
		await store.close();
		await rm(directory, { recursive: true });
	};
	return { withdrawals, outbox, devices, meters, failures, addDeviceOf, close };
}

test('a user whose devices are slow to accept withdrawals delays nobody else', async () => {
	const slow = Promise.withResolvers<PushOutcome>();
	const asked: string[] = [];
	const { withdrawals, outbox, failures, addDeviceOf, close } = await scene(async ({ user }) => {
		asked.push(user);
		return user === 'U02' ? slow.promise : { type: 'accepted' };
	});
	let isOver = false;
	const rounds = async (): Promise<void> => {
		while (!isOver) {
			await withdrawals.round();
			await Bun.sleep(10);
		}
	};
	const looping = rounds();
	try {
		for (const user of USERS) {
			await addDeviceOf(user);
			await until(async () => asked.includes(user));
		}
		await until(async () => (await outbox.shown('U03')).length === 0);
		expect(asked).toEqual(['U02', 'U03']);
		expect(await outbox.shown('U03')).toEqual([]);
		expect(await outbox.shown('U02')).toHaveLength(1);
		slow.resolve({ type: 'accepted' });
		await withdrawals.idle();
		expect(await outbox.shown('U02')).toEqual([]);
		expect(failures).toEqual([]);
	} finally {
		isOver = true;
		slow.resolve({ type: 'accepted' });
		await looping;
		await close();
	}
}, 60_000);

test('a device that its push service no longer knows is removed and counted', async () => {
	const { withdrawals, devices, meters, addDeviceOf, close } = await scene(async () => ({ type: 'gone' }));
	try {
		await addDeviceOf('U02');
		await withdrawals.round();
		await withdrawals.idle();
		expect(await devices.ofUser('U02')).toEqual([]);
		expect(meters).toMatchObject({ removed: 1, withdrawn: 0 });
	} finally {
		await close();
	}
}, 60_000);
