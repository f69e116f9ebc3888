import { afterEach, expect, test } from 'bun:test';
import type { Engine } from '../../src/app/engine.ts';
import { ENTRIES_PER_STEP } from '../../src/durability/stored-entries.ts';
import { Verifier } from '../../src/durability/verifier.ts';
import { COUNT_CAP } from '../../src/model/counting.ts';
import { portsDriver } from '../support/ports-driver.ts';
import { BEGIN, conversation, created, message, posted, postsIn } from '../support/store/facts.ts';
import { meterRows, TurnMeter } from '../support/turn-meter.ts';
import { embedded } from './engines.ts';

/** Comparing counts with the store delays nobody: each turn of the event loop reads only a few rows. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const CHANNEL = conversation('C01');
const USERS = Array.from({ length: 12 }, (_, index) => `U${index + 10}`);
const POSTS = COUNT_CAP + 6_000;
/** The rows of one step, and the few that identify its user. */
const LARGEST_TURN = ENTRIES_PER_STEP + 300;

/** Everybody but U01 is behind by more than a count shows; the oldest messages name some of them. */
async function farBehind(): Promise<{ engine: Engine; meter: TurnMeter }> {
	const place = await embedded.place();
	closing.push(() => place.remove());
	const engine = await place.open();
	closing.push(() => engine.close());
	const naming = message('C01', BEGIN + 1, { named: ['U10', 'U11'] });
	const toAll = message('C01', BEGIN + 2, { channelWide: true });
	await engine.store.ledger.commit([
		created(CHANNEL, ['U01', ...USERS]),
		posted(CHANNEL, naming),
		posted(CHANNEL, toAll),
		...postsIn(CHANNEL, 3, POSTS),
	]);
	const meter = new TurnMeter();
	closing.push(() => meter.stop());
	meterRows(engine.store.source, meter);
	return { engine, meter };
}

test('many users who are far behind are verified in small steps, and the history that they share is read once', async () => {
	const { engine, meter } = await farBehind();
	const verifier = new Verifier(engine.readState, engine.store.source);
	// The served state is loaded first, which has steps of its own.
	expect(await engine.readState.row('U10', 'C01')).toMatchObject({ unread: COUNT_CAP, mentions: 2 });
	meter.reset();
	expect(await verifier.verify(USERS, 'C01')).toEqual({
		checked: USERS.length,
		drifted: [],
		total: USERS.length,
	});
	expect(meter.largest).toBeLessThanOrEqual(LARGEST_TURN);
	// Shared history is read once.
	expect(meter.total).toBeLessThan(2 * COUNT_CAP);
}, 60_000);

test('posts, edits and deletes while users are verified are not drift', async () => {
	const place = await embedded.place();
	closing.push(() => place.remove());
	const engine = await place.open();
	closing.push(() => engine.close());
	const driver = portsDriver(engine);
	const { id: c } = await driver.createConversation('public', ['U01', ...USERS], 'busy');
	const verifier = new Verifier(engine.readState, engine.store.source);
	const verifying = [...Array(5)].map(() => verifier.verify(USERS, c));
	for (let step = 0; step < 20; step += 1) {
		const ts = await driver.post(c, 'U01', `hello <@U1${step % 10}>`, {});
		if (step % 2 === 0) await driver.remove(c, 'U01', ts);
		if (step % 3 === 0) await driver.edit(c, 'U01', await driver.post(c, 'U01', 'x', {}), '<!channel>');
	}
	for (const { checked, drifted } of await Promise.all(verifying)) {
		expect(drifted).toEqual([]);
		expect(checked).toBeGreaterThan(0);
	}
	expect(await verifier.verify(USERS, c)).toMatchObject({ checked: USERS.length, drifted: [] });
}, 60_000);

test('the regular self-check of a user reads only a few rows in each turn', async () => {
	const { engine, meter } = await farBehind();
	const verifier = new Verifier(engine.readState, engine.store.source);
	expect(await verifier.verifySome('U10', 5, () => 0)).toEqual({ checked: 1, drifted: [] });
	// The served state is loaded too, in steps of up to 2,048 rows.
	expect(meter.largest).toBeLessThanOrEqual(2_048 + LARGEST_TURN);
}, 60_000);
