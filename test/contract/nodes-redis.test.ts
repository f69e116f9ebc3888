import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Commands } from '../../src/engine/cluster/redis/connection.ts';
import { slotOf, spreadTags } from '../../src/engine/cluster/redis/slots.ts';
import { eventually } from '../support/eventually.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';
import { endOneNode, moveSlot } from '../support/redis-nodes.ts';
import { type OwnServices, ownServices } from '../support/services.ts';

/** Slots that move, and nodes that come and go, are found by who is connected: nobody has to start anew. */

let services: OwnServices;
let commands: Commands;
let close: () => void;
let prefix: string;

beforeAll(async () => {
	services = await ownServices('redis-cluster');
	const place = redisPlace('redis-cluster', services.env);
	({ commands, close } = await connectBoth(place));
	prefix = place.prefix;
}, 60_000);

afterAll(async () => {
	close?.();
	await services?.down();
}, 60_000);

const TAGS = spreadTags(32);
const PATIENCE_MS = 10_000;

/** All of one turn: so those of one node go out in one pipeline. */
const setAll = (value: string) =>
	Promise.all(TAGS.map((tag) => commands.set(`${prefix}{${tag}}:key`, value)));
const getAll = () => Promise.all(TAGS.map((tag) => commands.get(`${prefix}{${tag}}:key`)));
const url = () => services.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';

test('a slot that was given to another node', async () => {
	await setAll('before');
	await moveSlot(url(), slotOf(TAGS[0] ?? ''));
	await setAll('after');
	expect(new Set(await getAll())).toEqual(new Set(['after']));
}, 30_000);

test('a node that went, and came back', async () => {
	await setAll('before');
	await endOneNode(url());
	await expect(setAll('meanwhile')).rejects.toThrow();
	await services.start('redis-cluster');
	await eventually(PATIENCE_MS, () => setAll('after'));
	expect(new Set(await getAll())).toEqual(new Set(['after']));
}, 60_000);
