import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import type { Cluster, Redis } from 'ioredis';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { nodesOf, slotOf, spreadTags } from '../../src/engine/cluster/redis/slots.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import { eventually } from '../support/eventually.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';
import { endOneNode, moveSlot } from '../support/redis-nodes.ts';
import { readStateWorlds } from '../support/redis-read-state.ts';
import { type OwnServices, ownServices } from '../support/services.ts';
import { asIs, BEGIN, conversation, created, message, posted, postsIn } from '../support/store/facts.ts';

/** Connected clients follow slots that move and nodes that leave and return; no process has to restart. */

let services: OwnServices;
let commands: Commands;
let close: () => void;
let prefix: string;

beforeAll(async () => {
	services = await ownServices('redis-cluster');
	const place = redisPlace('redis-cluster', services.env);
	({ commands, close } = await connectBoth(place));
	prefix = place.prefix;
}, 180_000);

afterAll(async () => {
	close?.();
	await services?.down();
}, 180_000);

const TAGS = spreadTags(32);
const PATIENCE_MS = 60_000;

/** All in one turn, so that commands for one node go out in one pipeline. */
const setAll = (value: string) =>
	Promise.all(TAGS.map((tag) => commands.set(`${prefix}{${tag}}:key`, value)));
const getAll = () => Promise.all(TAGS.map((tag) => commands.get(`${prefix}{${tag}}:key`)));
const url = () => services.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';

test('commands follow a slot that moved to another node', async () => {
	await setAll('before');
	await moveSlot(url(), slotOf(TAGS[0] ?? ''));
	await setAll('after');
	expect(new Set(await getAll())).toEqual(new Set(['after']));
}, 180_000);

const newWorld = readStateWorlds('redis-cluster', () => services.env);
const CHANNEL = conversation('C01');

test('commands work while half of a conversation has moved to another node', async () => {
	const { process } = await newWorld();
	const { readState, apply, keys } = await process();
	await apply(created(CHANNEL, ['U01', 'U02']), ...postsIn(CHANNEL, 1, 6));
	const withoutCopies = await process();
	const unread = async (state = readState) => (await state.counts('U02')).rows.map((row) => row.unread);
	const counts: unknown[] = [await unread()];
	await moveSlot(url(), slotOf(CHANNEL.id), async (key) => {
		// The timeline has not moved yet: the unread count is unknown.
		if (key !== keys.meta(CHANNEL.id)) return;
		counts.push(await unread(withoutCopies.readState).catch(({ code }) => code));
		// A process with a copy does not need the timeline.
		counts.push(await unread());
	});
	counts.push(await unread());
	expect(counts).toEqual([[5], 'service_unavailable', [5], [5]]);
}, 180_000);

/** A user whose slot is on the same node as that of the conversation, so that one script concerns both. */
async function neighbour() {
	const { process } = await newWorld();
	const { readState, apply, commands } = await process();
	const nodeOf = nodesOf(commands);
	const isBeside = (user: string) => nodeOf(slotOf(user)) === nodeOf(slotOf(CHANNEL.id));
	const author = Array.from({ length: 100 }, (_, index) => `U5${index}`).find(isBeside) ?? '';
	await apply(created(CHANNEL, ['U01', author]));
	const post = (after: number, user = author) =>
		readState.apply([posted(CHANNEL, message(CHANNEL.id, BEGIN + after, { user }))], asIs);
	return { author, isBeside: () => isBeside(author), post };
}

test('an author whose slot has moved away from the node of the conversation can post at once', async () => {
	const { author, isBeside, post } = await neighbour();
	await post(1);
	await moveSlot(url(), slotOf(author));
	// As far as this process knows.
	expect(isBeside()).toBe(true);
	expect(await post(2)).toMatchObject([{ type: 'cursor', user: author, cursor: BEGIN + 2 }]);
	expect(isBeside()).toBe(false);
}, 180_000);

test('an author with unread messages can post while the slot of the author moves', async () => {
	const { author, post } = await neighbour();
	await post(1);
	await post(2, 'U01');
	let next = 3;
	await moveSlot(url(), slotOf(author), async () => {
		// No cursor moves.
		expect(await post(next)).toEqual([]);
		next += 1;
	});
	expect(next).toBeGreaterThan(3);
}, 180_000);

test('subscribers receive publications in order, or a gap is reported to them', async () => {
	const place = redisPlace('redis-cluster', services.env);
	const open = async () => {
		const { commands, subscriber, close } = await connectBoth(place);
		const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), {
			onGap: () => undefined,
			onError: () => undefined,
		});
		return { bus, close: () => [bus.close(), close()] };
	};
	const [here, there] = [await open(), await open()];
	for (const id of Array.from({ length: 15 }, (_, index) => `C9${index}`)) {
		const received: (number | 'lost')[] = [];
		await commands.set(`${place.prefix}{${id}}:key`, 'something');
		there.bus.subscribe(`live:${id}`, (message: BusMessage) => {
			if (message.type === 'lost') received.push('lost');
			if (message.type === 'event') received.push(Number(message.frame));
		});
		await there.bus.ready();
		let published = 0;
		const publish = () => {
			published += 1;
			here.bus.publish(`live:${id}`, { type: 'event', frame: String(published), at: published });
		};
		const publishing = setInterval(publish, 1);
		await moveSlot(url(), slotOf(id));
		await Bun.sleep(100);
		clearInterval(publishing);
		// Even if nothing else is published: the last publication arrives, or its loss is reported.
		await eventually(async () => {
			const end = received.at(-1);
			expect(end === published || end === 'lost').toBe(true);
		}, PATIENCE_MS);
		const numbers = received.filter((one) => one !== 'lost');
		expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
		if (numbers.length < published) expect(received).toContain('lost');
	}
	for (const { close } of [here, there]) close();
}, 180_000);

/** Cuts the connection without closing it properly, as a network failure does. */
const cut = (node: Redis) => (node as unknown as { stream: Socket }).stream.destroy();

test('a command that a lost connection may have run is not sent again', async () => {
	const key = `${prefix}{once}:count`;
	await commands.set(key, '0');
	const slowly = `for i = 1, 100000000 do end; return redis.call('INCR', KEYS[1])`;
	const counting = commands.eval(slowly, 1, key);
	const error = counting.then(
		() => 'done',
		({ message }: Error) => message,
	);
	await Bun.sleep(60);
	for (const node of (commands as Cluster).nodes('master')) cut(node);
	expect(await error).toContain('may have been executed');
	await eventually(async () => expect(await commands.get(key)).toBe('1'), PATIENCE_MS);
}, 180_000);

/** Several times as long as ioredis waits for a cluster to report its slots. */
const SLOW_MS = 4_000;

test('a client that connects while the cluster is slow waits for it', async () => {
	const nodes = [1, 2, 3];
	await Promise.all(nodes.map((node) => services.haltNode('redis-cluster', node, 'SIGSTOP')));
	const connecting = connectBoth(redisPlace('redis-cluster', services.env));
	await Bun.sleep(SLOW_MS);
	for (const node of nodes) services.wakeNode('redis-cluster', node);
	const { commands: late, close: closeLate } = await connecting;
	expect(await late.set(`${prefix}{late}:key`, 'connected')).toBe('OK');
	closeLate();
}, 180_000);

test('commands are rejected while a node is down, and succeed after it has returned', async () => {
	await setAll('before');
	await endOneNode(url());
	await expect(setAll('meanwhile')).rejects.toMatchObject({ code: 'service_unavailable' });
	await services.start('redis-cluster');
	await eventually(() => setAll('after'), PATIENCE_MS);
	expect(new Set(await getAll())).toEqual(new Set(['after']));
}, 180_000);

test('while all nodes are down, commands are rejected, and they do not run when the nodes return', async () => {
	await setAll('before');
	await services.stop('redis-cluster');
	// Also while the client has not noticed that every node is gone, and after it has.
	for (let attempt = 0; attempt < 3; attempt += 1)
		await expect(setAll('meanwhile')).rejects.toMatchObject({ code: 'service_unavailable' });
	await services.start('redis-cluster');
	await eventually(async () => expect(new Set(await getAll()).has('meanwhile')).toBe(false), PATIENCE_MS);
}, 180_000);
