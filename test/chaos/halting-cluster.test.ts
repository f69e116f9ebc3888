import { afterEach, expect, test } from 'bun:test';
import { EVERY_GATEWAY } from '../../src/engine/ports/bus.ts';
import type { Action } from '../../src/sequencer/commands.ts';
import { eventually } from '../support/eventually.ts';
import { until } from '../support/log/records.ts';
import { type LoneWorker, loneWorker } from '../support/lone-worker.ts';
import { conversation, created } from '../support/store/facts.ts';

/** A worker that is started, halted and resumed, and a worker that loses a partition. */

/** If a partition is not released, the test waits until it times out. */
const FOR_EVER_MS = 600_000;
const ALL = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 10, nearest: 'oldest' } as const;

const post = (text: string): Action => ({
	type: 'post',
	content: { text, extra: null },
	threadTs: null,
	broadcast: false,
	clientMsgId: null,
});

let lone: LoneWorker;
afterEach(() => lone.close(), 60_000);

/** Two conversations that Redis does not have yet. */
async function twoConversations(options: Parameters<typeof loneWorker>[0] = {}): Promise<void> {
	lone = await loneWorker(options);
	for (const id of ['C01', 'C02'])
		await lone.store.ledger.commit([created(conversation(id), ['U01', 'U02'])]);
}

const written = async (id: string): Promise<string[]> =>
	(await lone.store.history.timeline(id, ALL)).map(({ text }) => text);

test('Redis is lost between two conversations of a batch: both are persisted before the next epoch', async () => {
	await twoConversations();
	const { worker, epochs, answers, before } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	const first = await lone.append('C01', post('acknowledged'));
	const second = await lone.append('C02', post('decided'));
	before.set('C02', async () => {
		await until(() => answers.has(first), 'the first is answered');
		before.delete('C02');
		await lone.emptyRedis();
	});
	worker.start();
	await until(() => worker.partitions === 1, 'the partition is there');
	// A worker is halted when it starts: it answers nothing, however long the caller waits.
	await Bun.sleep(300);
	expect(answers.size).toBe(0);
	worker.resume();
	await until(() => answers.has(first) && !before.has('C02'), 'Redis is emptied');
	await worker.halt();

	expect(answers.get(first)).toMatchObject({ ok: true });
	expect(answers.has(second)).toBe(false);
	expect([await written('C01'), await written('C02')]).toEqual([['acknowledged'], ['decided']]);
	expect(await lone.store.nextOffset(lone.partition)).toBe(2);

	await epochs.clear();
	await epochs.begin(() => 2);
	worker.resume();
	await until(() => answers.has(second), 'the second is answered');
	expect(answers.get(second)).toMatchObject({ ok: true, result: { message: { text: 'decided' } } });
	expect(await lone.readState.row('U02', 'C02')).toMatchObject({ unread: 1 });
	// The author's cursor moved too, in Redis and in the store.
	const [ts] = (await lone.store.history.timeline('C02', ALL)).map((message) => message.ts);
	expect(await lone.readState.row('U01', 'C02')).toMatchObject({ unread: 0, lastRead: ts });
	await eventually(async () => {
		const { memberships } = await lone.store.source.user('U01');
		expect(memberships.find((one) => one.conversation === 'C02')).toMatchObject({ cursor: ts });
	}, 10_000);
	const third = await lone.append('C02', post('and on'));
	await until(() => answers.has(third), 'the partition continues');
	await worker.halt();
	expect(await written('C02')).toEqual(['decided', 'and on']);
	expect(await lone.store.nextOffset(lone.partition)).toBe(3);
}, 60_000);

test('a worker releases a revoked partition at once, even while it checks the read state', async () => {
	await twoConversations({ releaseMs: FOR_EVER_MS });
	const { worker, answers, before } = lone;
	// There is no epoch, so nothing can be loaded, and the worker retries.
	const [trying, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	before.set('C01', async () => {
		trying.resolve();
		await goOn.promise;
	});
	await lone.append('C01', post('in vain'));
	worker.start();
	worker.resume();
	await trying.promise;
	const closed = lone.logs.close();
	await Bun.sleep(50);
	worker.resume();
	goOn.resolve();
	await closed;
	expect(answers.size).toBe(0);
	expect(await lone.store.nextOffset(lone.partition)).toBe(0);
}, 30_000);

test('a worker releases a revoked partition at once, even while it is halted', async () => {
	await twoConversations({ releaseMs: FOR_EVER_MS });
	await lone.append('C01', post('waits'));
	lone.worker.start();
	const halted = lone.worker.halt();
	await until(() => lone.worker.partitions === 1, 'the partition is there');
	await Bun.sleep(500);
	await lone.logs.close();
	await halted;
	expect(await lone.store.nextOffset(lone.partition)).toBe(0);
}, 30_000);

/** Counts the gaps announced to all gateways. */
function announcements(): { readonly count: () => number } {
	let count = 0;
	lone.bus.subscribe(EVERY_GATEWAY, ({ type }) => {
		if (type === 'missed') count += 1;
	});
	return { count: () => count };
}

test('a worker dies after persisting changes and before publishing them: the next owner announces a gap', async () => {
	await twoConversations();
	const { worker, epochs, answers, before } = lone;
	const announced = announcements();
	await epochs.clear();
	await epochs.begin(() => 1);
	const first = await lone.append('C01', post('published'));
	const second = await lone.append('C02', post('stored'));
	before.set('C02', async () => {
		await until(() => answers.has(first), 'the first is answered');
		before.delete('C02');
		await lone.emptyRedis();
	});
	worker.start();
	worker.resume();
	await until(() => answers.has(first) && !before.has('C02'), 'Redis is emptied');
	await worker.halt();
	expect(await lone.store.nextOffset(lone.partition)).toBe(2);
	await lone.logs.close();

	await epochs.clear();
	await epochs.begin(() => 2);
	const next = await lone.another();
	next.start();
	next.resume();
	await until(() => announced.count() === 1, 'it is announced');
	// The change may not have been applied either, even if Redis lost nothing: everything is loaded again.
	await eventually(async () => expect(await epochs.lost()).toHaveLength(3), 10_000);
	await epochs.clear();
	await epochs.begin(() => 3);
	// Clients that are already past the change cannot resume: they reload.
	expect(await epochs.completeSince()).toBeGreaterThan(Date.now() * 1000);
	expect(answers.has(second)).toBe(false);
}, 60_000);

test('a worker that has published its persisted changes releases its partition, and no gap is announced', async () => {
	await twoConversations();
	const { worker, epochs, answers } = lone;
	const announced = announcements();
	await epochs.clear();
	await epochs.begin(() => 1);
	worker.start();
	worker.resume();
	for (const text of ['one', 'two']) {
		const request = await lone.append('C01', post(text));
		await until(() => answers.has(request), `${text} is answered`);
	}
	// Redis is emptied while nothing is in flight: published changes are recorded again.
	await lone.emptyRedis();
	await worker.halt();
	await epochs.clear();
	await epochs.begin(() => 2);
	worker.resume();
	await lone.logs.close();

	const next = await lone.another();
	next.start();
	next.resume();
	const third = await lone.append('C01', post('three'));
	await until(() => answers.has(third), 'the next owner decides');
	expect(announced.count()).toBe(0);
	expect(await epochs.completeSince()).toBe(2);
}, 60_000);

test('a publication record that Redis did not store at once is stored later, and the next owner announces no gap', async () => {
	await twoConversations();
	const { worker, epochs, answers, claiming } = lone;
	const announced = announcements();
	await epochs.clear();
	await epochs.begin(() => 1);
	worker.start();
	worker.resume();
	await until(() => claiming.count === 1, 'the partition is claimed');
	let failures = 0;
	claiming.beforeRecord = async () => {
		failures += 1;
		throw new Error('Command timed out');
	};
	const request = await lone.append('C01', post('the last one for a while'));
	await until(() => answers.has(request) && failures > 0, 'it is answered');
	await eventually(async () => expect(await lone.store.nextOffset(lone.partition)).toBe(1), 10_000);
	const recorded = Promise.withResolvers<void>();
	claiming.beforeRecord = async () => recorded.resolve();
	await recorded.promise;
	await lone.logs.close();

	const next = await lone.another();
	next.start();
	next.resume();
	const following = await lone.append('C01', post('following'));
	await until(() => answers.has(following), 'the next owner decides');
	expect(announced.count()).toBe(0);
}, 60_000);

test('while a persisted message is not applied, later changes of its conversation are not persisted', async () => {
	await twoConversations({ releaseMs: 1000 });
	const { worker, epochs, answers, before } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	before.set('C02', async () => {
		before.delete('C02');
		await lone.emptyRedis();
	});
	const stored = await lone.append('C02', post('stored'));
	worker.start();
	worker.resume();
	await until(() => !before.has('C02'), 'Redis is emptied');
	await worker.halt();
	expect(await lone.store.nextOffset(lone.partition)).toBe(1);

	await epochs.clear();
	await epochs.begin(() => 2);
	// Redis is available again, and the persisted message is still being applied when the next one arrives.
	const [applying, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	before.set('C02', async () => {
		applying.resolve();
		await goOn.promise;
	});
	worker.resume();
	await applying.promise;
	const following = await lone.append('C02', post('following'));
	const elsewhere = await lone.append('C01', post('elsewhere'));
	await until(() => answers.has(elsewhere), 'the other conversation continues');
	await Bun.sleep(500);
	expect(await lone.store.nextOffset(lone.partition)).toBe(1);

	// The worker stops; the next owner finds the commands that were not applied in the log.
	await worker.stop(1000);
	goOn.resolve();
	before.delete('C02');
	expect(await lone.store.nextOffset(lone.partition)).toBe(1);
	expect(answers.has(following)).toBe(false);
	await lone.logs.close();
	const next = await lone.another();
	next.start();
	next.resume();
	await until(() => answers.has(following), 'the next owner decides about it');
	expect(answers.has(stored)).toBe(true);
	expect(await lone.readState.row('U02', 'C02')).toMatchObject({ unread: 2 });
}, 60_000);

test('if Redis is lost again while a persisted message is not applied, later changes of its conversation are persisted too', async () => {
	await twoConversations();
	const { worker, epochs, answers, before } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	before.set('C02', async () => {
		before.delete('C02');
		await lone.emptyRedis();
	});
	await lone.append('C02', post('stored'));
	worker.start();
	worker.resume();
	await until(() => !before.has('C02'), 'Redis is emptied');
	await worker.halt();
	await epochs.clear();
	await epochs.begin(() => 2);
	let attempts = 0;
	before.set('C02', async () => {
		attempts += 1;
		throw new Error('Redis is unavailable');
	});
	worker.resume();
	await until(() => attempts > 0, 'the stored one is being applied');
	const following = await lone.append('C02', post('following'));
	const elsewhere = await lone.append('C01', post('elsewhere'));
	await until(() => answers.has(elsewhere), 'the other conversation continues');
	await worker.halt();
	expect(await written('C02')).toEqual(['stored', 'following']);
	before.delete('C02');
	worker.resume();
	await until(() => answers.has(following), 'both are applied');
	expect(await lone.readState.row('U02', 'C02')).toMatchObject({ unread: 2 });
}, 60_000);

/** A partition with more waiting commands than this accepts no others. */
const MAX_WAITING = 4_000;
/** The most commands of a batch. */
const BATCH = 1_000;

test('a batch that waited for room while the worker was halted starts only when the worker resumes', async () => {
	await twoConversations();
	const { worker, epochs, answers, before } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	const [applying, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	before.set('C01', async () => {
		applying.resolve();
		await goOn.promise;
	});
	worker.start();
	worker.resume();
	await lone.append('C01', post('held up'));
	await applying.promise;
	// These commands are rejected, which is cheap: only members may post.
	const many = Array.from({ length: MAX_WAITING + BATCH }, () => lone.append('C01', post('no'), 'U09'));
	await Promise.all(many);
	const last = await lone.append('C02', post('waits for room'));
	await Bun.sleep(1000);
	expect(answers.has(last)).toBe(false);
	const halted = worker.halt();
	goOn.resolve();
	await halted;
	await Bun.sleep(300);
	expect(answers.has(last)).toBe(false);
	expect(await written('C02')).toEqual([]);
	worker.resume();
	await until(() => answers.has(last), 'it is begun');
}, 60_000);

test('a partition that is revoked while its offset is looked up is not claimed', async () => {
	await twoConversations();
	const { worker, epochs, claiming } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	claiming.afterProgress = async () => {
		asked.resolve();
		await goOn.promise;
	};
	worker.start();
	worker.resume();
	await asked.promise;
	await lone.logs.close();
	goOn.resolve();
	await Bun.sleep(300);
	expect(claiming.count).toBe(0);
	expect(worker.partitions).toBe(0);
}, 30_000);

test('PostgreSQL loses messages that it had confirmed: an edit of one is decided after the log is replayed', async () => {
	await twoConversations();
	const { worker, epochs, answers } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	worker.start();
	worker.resume();
	const posted = await lone.append('C01', post('in the log'));
	await until(() => answers.has(posted), 'it is answered');
	await eventually(async () => expect(await lone.store.nextOffset(lone.partition)).toBe(1), 10_000);
	const [{ ts } = { ts: 0 }] = await lone.store.history.timeline('C01', ALL);
	// The worker has to load the message.
	worker.evict(Number.POSITIVE_INFINITY);
	await lone.rollBack();
	const edit = await lone.append('C01', { type: 'edit', ts, content: { text: 'edited', extra: null } });
	await until(() => answers.has(edit), 'the edit is answered');
	expect(answers.get(edit)).toMatchObject({ ok: true });
	await eventually(async () => expect(await written('C01')).toEqual(['edited']), 10_000);
}, 60_000);

test('PostgreSQL loses messages and marks that it had confirmed: they are restored without further commands or marks', async () => {
	await twoConversations();
	const { worker, rollbacks, store, logs, epochs, answers } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	worker.start();
	worker.resume();
	const posted = await lone.append('C01', post('in the log'));
	await until(() => answers.has(posted), 'it is answered');
	// The post also moved the cursor of its author, which is a mark.
	const allStored = async (): Promise<void> => {
		const [offsets, marks] = [await store.nextOffsets(), await logs.endOfMarks()];
		expect(offsets.get(lone.partition)).toBe(1);
		expect(Math.max(...marks.values())).toBeGreaterThan(0);
		for (const [partition, end] of marks) expect(offsets.get(partition) ?? 0).toBe(end);
	};
	await eventually(allStored, 10_000);
	// The worker has received the confirmation of its last transaction.
	await worker.halt();
	worker.resume();
	await lone.rollBack();
	await rollbacks.check();
	await eventually(allStored, 20_000);
	expect(await written('C01')).toEqual(['in the log']);
}, 60_000);

test('a change that PostgreSQL rejects is retried after growing pauses, even while others arrive', async () => {
	await twoConversations();
	const { worker, epochs, bus } = lone;
	await epochs.clear();
	await epochs.begin(() => 1);
	await lone.rejectText('rejected');
	const delivered: number[] = [];
	bus.subscribe('live:C01', (message) => {
		if (JSON.stringify(message).includes('rejected')) delivered.push(performance.now());
	});
	await lone.append('C01', post('rejected'));
	worker.start();
	worker.resume();
	const deadline = performance.now() + 40_000;
	while (delivered.length < 3 && performance.now() < deadline) {
		await lone.append('C02', post('another'));
		await Bun.sleep(100);
	}
	const [first = 0, second = 0, third = 0] = delivered;
	expect(delivered.length).toBeGreaterThanOrEqual(3);
	expect(second - first).toBeGreaterThanOrEqual(500);
	expect(third - second).toBeGreaterThanOrEqual(2000);
}, 60_000);
