import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { EpochGuard } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { SPREAD_SLOTS, tagIn } from '../../src/engine/cluster/redis/markers.ts';
import { slotOf } from '../../src/engine/cluster/redis/slots.ts';
import { eventually } from '../support/eventually.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';
import { emptyOneNode, endOneNode, isOnNodeAt, moveSlot, saveOneNode } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/**
 * Each node has its own epoch: a lost node costs only the state that it had, and state from before the loss is never
 * trusted.
 */

const UNAVAILABLE = { code: 'service_unavailable' };

let services: OwnServices;
let url: string;
let close: (() => void)[];
let commands: Commands;
let keys: Keys;
/** As in a worker and a gateway that have seen all nodes healthy. */
let epochs: Epochs;
let guard: EpochGuard;
/** Whether a hash tag is on the node under test. */
let isOnNode: (tag: string) => boolean;
let there: string;
let elsewhere: string;
let address: string;

beforeAll(async () => {
	services = await ownServices('redis-cluster');
	url = services.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';
	address = new URL(url).host;
}, 60_000);
afterAll(() => services?.down(), 60_000);

beforeEach(async () => {
	close = [];
	const place = redisPlace('redis-cluster', services.env);
	({ commands, keys, epochs, guard } = await open(place.prefix));
	await epochs.begin(() => 1);
	expect(await epochs.lost()).toEqual([]);
	isOnNode = await isOnNodeAt(url);
	const users = Array.from({ length: 100 }, (_, number) => `U${number}`);
	there = users.find(isOnNode) as string;
	elsewhere = users.find((user) => !isOnNode(user)) as string;
	for (const user of [there, elsewhere]) await commands.hset(keys.fields(user), 'stamp', 1);
}, 30_000);
afterEach(() => {
	for (const end of close) end();
});

/** Another process, which knows nothing yet. */
async function open(prefix: string) {
	const both = await connectBoth({ ...redisPlace('redis-cluster', services.env), prefix });
	close.push(both.close);
	const epochs = new Epochs(both.commands, prefix);
	return { commands: both.commands, keys: new Keys(prefix), epochs, guard: new EpochGuard(epochs) };
}

const isLoaded = async (user: string): Promise<boolean> => (await commands.exists(keys.fields(user))) === 1;
const rejection = (work: Promise<unknown>): Promise<unknown> =>
	work.then(() => 'done').catch((error) => error);

/** Waits until the restarted node answers again, and knows its cluster. */
const answering = (): Promise<unknown> => eventually(() => commands.get(keys.away(there)), 20_000);

async function restore(): Promise<void> {
	await epochs.clear(await epochs.lost());
	await epochs.begin(() => 2);
	expect(await epochs.lost()).toEqual([]);
}

/** Rejects if the node of one of these hash tags is not complete. */
const assure = async (tags: readonly string[]): Promise<void> => guard.verifyEpochs(await guard.begin(tags));

/** Checks that only this node is lost, and that its rebuild begins a new epoch there and removes nothing on other nodes. */
async function lostAndRestored(): Promise<void> {
	const since = await guard.begin([elsewhere]);
	expect(await epochs.lost()).toEqual([address]);
	expect(await rejection(epochs.completeSince())).toMatchObject(UNAVAILABLE);
	expect(await rejection(assure([there]))).toMatchObject(UNAVAILABLE);
	await assure([elsewhere]);
	await guard.verifyEpochs(since);
	await restore();
	expect([await isLoaded(there), await isLoaded(elsewhere)]).toEqual([false, true]);
	await guard.verifyEpochs(since);
	expect(await epochs.completeSince()).toBe(2);
	await assure([there, elsewhere]);
}

test('an emptied node loses only its own state, and changes that were decided before do not arrive later', async () => {
	const read = await guard.begin([there]);
	const [sent, arrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let attempts = 0;
	const setting = guard.retrying(async () => {
		attempts += 1;
		const token = (await guard.begin([there])).tokenOf(slotOf(there));
		sent.resolve();
		await arrives.promise;
		const stateKeys = [keys.fields(there), keys.fieldNames(there)];
		return commands.setUser(...stateKeys, ...token, 60, '-', 0, 'stamp', attempts);
	});
	await sent.promise;
	await emptyOneNode(url);
	await lostAndRestored();
	expect(await rejection(guard.verifyEpochs(read))).toMatchObject(UNAVAILABLE);
	// A change that was decided before the loss does not arrive after it.
	arrives.resolve();
	await setting;
	expect(await commands.hget(keys.fields(there), 'stamp')).toBe('2');
}, 30_000);

test('a node whose process was replaced by one with older data is lost', async () => {
	await guard.begin([there, elsewhere]);
	await saveOneNode(url);
	await endOneNode(url);
	await services.start('redis-cluster');
	await answering();
	expect(await rejection(guard.begin([there]))).toMatchObject(UNAVAILABLE);
	await lostAndRestored();
}, 60_000);

test('a node that returns with old data during its rebuild is lost again', async () => {
	await saveOneNode(url);
	await emptyOneNode(url);
	expect(await epochs.lost()).toEqual([address]);
	await epochs.clear([address]);
	await endOneNode(url);
	await services.start('redis-cluster');
	await answering();
	await epochs.begin(() => 2);
	expect(await isLoaded(there)).toBe(true);
	await lostAndRestored();
}, 60_000);

test('a slot that moves to another node loses nothing', async () => {
	const slot = SPREAD_SLOTS.find((one) => isOnNode(tagIn(one))) as number;
	const since = await guard.begin([there, elsewhere]);
	await moveSlot(url, slot);
	expect(await epochs.lost()).toEqual([]);
	await guard.verify(await guard.begin([tagIn(slot), there, elsewhere]));
	await guard.verifyEpochs(since);
	// Afterwards the marker of the slot names its new node.
	const before = await commands.get(`${keys.prefix}{${tagIn(slot)}}:epoch3`);
	await epochs.recheck();
	await epochs.tidy();
	const after = await commands.get(`${keys.prefix}{${tagIn(slot)}}:epoch3`);
	expect([after?.split(' ')[0], after === before]).toEqual(['1', false]);
	expect(await epochs.lost()).toEqual([]);
	await guard.verify(await guard.begin([tagIn(slot), there, elsewhere]));
}, 30_000);

test('a slot of a lost node moves to another node: its data there are not trusted', async () => {
	// The slot has no marker.
	const slot = slotOf(there);
	await guard.begin([there, elsewhere]);
	await emptyOneNode(url);
	await commands.set(`${keys.prefix}{${there}}:something`, '1');
	await moveSlot(url, slot);
	// Commands for the slot are redirected there.
	await commands.get(keys.away(there));
	expect(await rejection(guard.begin([there]))).toMatchObject(UNAVAILABLE);
	expect(await rejection(assure([there]))).toMatchObject(UNAVAILABLE);
	const lost = await epochs.lost();
	expect(lost).toHaveLength(2);
	expect(lost).toContain(address);
	// A process that started later cannot know where slots come from.
	const late = await open(keys.prefix);
	expect(await late.epochs.lost()).toHaveLength(3);
	expect(await rejection(late.guard.begin([elsewhere]))).toMatchObject(UNAVAILABLE);
	await restore();
	await guard.begin([there]);
	await late.guard.begin([there, elsewhere]);
}, 30_000);

test('the loss of a node is detected even if it has none of the slots that markers are spread over', async () => {
	for (const slot of SPREAD_SLOTS.filter((one) => isOnNode(tagIn(one)))) {
		await moveSlot(url, slot);
		await epochs.recheck();
		await epochs.tidy();
	}
	isOnNode = await isOnNodeAt(url);
	expect(SPREAD_SLOTS.some((slot) => isOnNode(tagIn(slot)))).toBe(false);
	expect(await epochs.lost()).toEqual([]);
	await guard.begin([there, elsewhere]);
	await emptyOneNode(url);
	await lostAndRestored();
}, 60_000);

test('a node does not answer: data on the other nodes stay available', async () => {
	await guard.begin([there, elsewhere]);
	const node = new Redis(url);
	close.push(() => node.disconnect());
	await node.call('CLIENT', 'PAUSE', '8000', 'ALL');
	const since = await guard.begin([elsewhere]);
	await guard.verifyEpochs(since);
	await assure([elsewhere]);
	// The state of the node is unknown: it does not count as lost.
	expect(await rejection(epochs.lost())).toBeInstanceOf(Error);
	await guard.verifyEpochs(since);
	await eventually(async () => expect(await epochs.lost()).toEqual([]), 20_000);
}, 60_000);
