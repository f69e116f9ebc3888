import { afterEach, expect, test } from 'bun:test';
import type { Engine } from '../../src/app/engine.ts';
import { COUNT_CAP } from '../../src/model/counting.ts';
import { portsDriver } from '../support/ports-driver.ts';
import {
	asIs,
	BEGIN,
	changed,
	conversation,
	created,
	message,
	posted,
	postsIn,
} from '../support/store/facts.ts';
import { meterRows, TurnMeter } from '../support/turn-meter.ts';
import { WholeReadState } from '../support/whole-read-state.ts';
import { embedded } from './engines.ts';

/** A server that has just started has nothing in memory: what each call loads is bounded, and delays no other call. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const TEAM = 'T000TEST00';
const LONG = conversation('C01', { team: TEAM });
const OTHER = conversation('C02', { team: TEAM });
const USERS = Array.from({ length: 20 }, (_, index) => `U${index + 10}`);

async function started(posts: number): Promise<Engine> {
	const place = await embedded.place();
	closing.push(() => place.remove());
	const engine = await place.open();
	closing.push(() => engine.close());
	await engine.store.ledger.commit([
		created(LONG, ['U01', ...USERS]),
		created(OTHER, ['U01', ...USERS]),
		...postsIn(LONG, 1, posts + 1),
	]);
	return engine;
}

function metered({ store }: Engine): TurnMeter {
	const meter = new TurnMeter();
	closing.push(() => meter.stop());
	meterRows(store.source, meter);
	return meter;
}

test('a mark that moves to the newest message reads none of the messages in between', async () => {
	const posts = 5_000;
	const engine = await started(posts);
	const meter = metered(engine);
	const state = new WholeReadState(engine.views);
	const change = await state.mark('U10', 'C01', { type: 'read', ts: BEGIN + posts }, () => undefined);
	expect(change).toMatchObject({ row: { unread: 0, lastRead: BEGIN + posts } });
	expect(meter.total).toBeLessThan(20);
	// A mark that stops before the newest message counts the remaining ones.
	const some = { type: 'read', ts: BEGIN + posts - 100 } as const;
	expect(await state.mark('U11', 'C01', some, () => undefined)).toMatchObject({
		row: { unread: 100 },
	});
	expect(meter.total).toBeLessThan(300);
	// A mark with an older revision moves nothing, and returns the current counts.
	await state.mark('U12', 'C01', { type: 'unread', ts: BEGIN + 2 }, () => undefined);
	const outdated = { type: 'read', ts: BEGIN + posts, revision: 0 } as const;
	expect(await state.mark('U12', 'C01', outdated, () => undefined)).toMatchObject({
		ignored: true,
		row: { unread: posts },
	});
});

test('unread messages count when their conversation is unarchived, even if it was loaded while archived', async () => {
	const engine = await started(300);
	await engine.store.ledger.commit([changed(LONG, 'archive', BEGIN + 1_000, { archived: true })]);
	const { views, readState } = engine;
	expect((await readState.counts('U10')).rows.map(({ conversation }) => conversation)).toEqual(['C02']);
	await views.apply([changed(LONG, 'unarchive', BEGIN + 2_000, { archived: false })], 0, asIs);
	const { rows } = await readState.counts('U10');
	expect(rows.find(({ conversation }) => conversation === 'C01')).toMatchObject({ unread: 300 });
});

test('many users who need the same history at once cause one read', async () => {
	const posts = COUNT_CAP - 1_000;
	const engine = await started(posts);
	const meter = metered(engine);
	const rows = await Promise.all(USERS.map((user) => engine.readState.row(user, 'C01')));
	for (const row of rows) expect(row).toMatchObject({ unread: posts });
	expect(meter.total).toBeLessThan(posts * 1.2);
});

test('a post to a conversation that is still loading delays no post to another', async () => {
	const engine = await started(10);
	const loading = Promise.withResolvers<void>();
	const source = engine.store.source as { head: Engine['store']['source']['head'] };
	const { head } = source;
	source.head = async (id) => {
		if (id === 'C01') await loading.promise;
		return head(id);
	};
	const driver = portsDriver(engine);
	const finished: string[] = [];
	const post = (to: string, text: string) =>
		driver.post(to, 'U10', text, {}).then((ts) => {
			finished.push(text);
			return ts;
		});
	const slow = [post('C01', 'first'), post('C01', 'second')];
	await post('C02', 'other');
	expect(finished).toEqual(['other']);
	loading.resolve();
	const [first = 0, second = 0] = await Promise.all(slow);
	expect(second).toBeGreaterThan(first);
});

test('requests that waited for the same history are served a few at a time', async () => {
	const engine = await started(3_000);
	const meter = new TurnMeter();
	closing.push(() => meter.stop());
	const crowd = Array.from({ length: 10 }, () => USERS).flat();
	await Promise.all(
		crowd.map(async (user) => {
			await engine.readState.row(user, 'C01');
			meter.add(1);
		}),
	);
	expect(meter.total).toBe(200);
	expect(meter.largest).toBeLessThanOrEqual(40);
});

test('the messages of a badge are listed without reading all others', async () => {
	const engine = await started(COUNT_CAP);
	await engine.store.ledger.commit([
		posted(LONG, message('C01', BEGIN + COUNT_CAP + 1, { named: ['U10'] })),
		posted(LONG, message('C01', BEGIN + COUNT_CAP + 2, { channelWide: true })),
		posted(LONG, message('C01', BEGIN + COUNT_CAP + 3, { named: ['U11'] })),
	]);
	const { readState } = engine;
	const listed = async (only?: 'in badge') =>
		(await readState.unread('U10', undefined, only)).filter(({ reasons }) => reasons.length > 0);
	expect(await readState.unread('U10', undefined, 'in badge')).toHaveLength(2);
	expect(await listed('in badge')).toEqual(await listed());
	expect(await readState.unread('U10', 'C01', 'in badge')).toEqual(await listed());
});
