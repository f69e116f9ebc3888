import { afterEach, expect, test } from 'bun:test';
import type { Engine } from '../../src/app/engine.ts';
import { nextTurn } from '../../src/model/next-turn.ts';
import { randomHistory, USER_COUNT } from '../support/oracle/history.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { runHistory } from '../support/oracle/run.ts';
import { portsDriver } from '../support/ports-driver.ts';
import { meterRows, TurnMeter } from '../support/turn-meter.ts';
import { embedded } from './engines.ts';

/** Eviction while commits are in flight: the store does not have those changes yet, so memory must keep them. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const LONG_MS = 600_000;
const USERS = Array.from({ length: USER_COUNT }, (_, index) => `U000USER0${index}`);
const [ADA, GRACE] = ['U000ADA000', 'U000GRACE0'] as const;

/**
 * Between the turn that makes a change and the commit of that change, evicts everything and loads users again, in a
 * separate turn of the event loop, as a server's timer does.
 */
function evictingBeforeEveryCommit(engine: Engine, users: readonly string[]): Engine {
	const { ledger, readState } = { ...engine.store, ...engine };
	const commit = ledger.commit.bind(ledger);
	const flushed = ledger.flushed.bind(ledger);
	let newest: Promise<void> = Promise.resolve();
	ledger.commit = (facts) => {
		const evicted = newest.then(nextTurn).then(() => {
			engine.evict(-1);
			for (const user of users) readState.memberships(user).catch(() => undefined);
		});
		newest = evicted.then(nextTurn).then(() => commit(facts));
		return newest;
	};
	ledger.flushed = () => newest.then(flushed);
	return engine;
}

async function opened(users: readonly string[]) {
	const place = await embedded.place();
	closing.push(() => place.remove());
	const engine = evictingBeforeEveryCommit(await place.open(), users);
	const driver = portsDriver(engine);
	closing.push(() => driver.close());
	return { engine, driver };
}

test('an idle user who is evicted while an invitation is committed is a member afterwards', async () => {
	const { engine, driver } = await opened([GRACE]);
	const { id } = await driver.createConversation('public', [ADA], 'pier');
	expect(await engine.readState.memberships(GRACE)).toEqual([]);
	await driver.join(id, GRACE, ADA);
	expect((await engine.readState.memberships(GRACE)).map(({ conversation }) => conversation)).toEqual([id]);
	await driver.post(id, ADA, 'hello', {});
	expect(await engine.readState.row(GRACE, id)).toMatchObject({ unread: 1 });
});

test(
	'a random history with an eviction before every commit keeps every count',
	async () => {
		const { driver } = await opened(USERS);
		const oracle = new Oracle();
		const report = await runHistory(driver, oracle, randomHistory(31, 1_500), { users: USERS, check: 100 });
		expect(report.performed.post ?? 0).toBeGreaterThan(100);
	},
	LONG_MS,
);

test('the state that a command needs stays in memory from its preparation until it is applied', async () => {
	const place = await embedded.place();
	closing.push(() => place.remove());
	const engine = await place.open();
	const { views } = engine;
	const driver = portsDriver(engine);
	closing.push(() => driver.close());
	const { id } = await driver.createConversation('public', [ADA, GRACE], 'pier');
	const prepare = views.prepare.bind(views);
	views.prepare = async (command) => {
		const prepared = await prepare(command);
		engine.evict(-1);
		return prepared;
	};
	const root = await driver.post(id, ADA, 'hello', {});
	const reply = await driver.post(id, ADA, 'there', { threadTs: root });
	expect(await engine.readState.row(ADA, id)).toMatchObject({ lastRead: root });
	expect(await engine.readState.row(GRACE, id)).toMatchObject({ unread: 1 });
	const posted = await driver.post(id, GRACE, 'hi', {});
	expect(posted).toBeGreaterThan(reply);
	expect(await engine.readState.row(ADA, id)).toMatchObject({ unread: 1 });
	// No command is pending now: everything is evicted, and the count is loaded again.
	views.prepare = prepare;
	engine.evict(-1);
	const meter = new TurnMeter();
	meterRows(engine.store.source, meter);
	expect(await engine.readState.row(ADA, id)).toMatchObject({ unread: 1 });
	meter.stop();
	expect(meter.total).toBeGreaterThan(0);
});
