import { expect, test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';
import type { Member } from '../support/cluster.ts';
import {
	emptyOneNode,
	emptyRedis,
	endOneNode,
	epochs,
	moveSlot,
	saveOneNode,
	slotsInUse,
} from '../support/redis-nodes.ts';

/**
 * Parts of a cluster die under load. Nothing that was acknowledged is lost, nothing is there twice, and every count is what
 * a recount gives.
 */

const stage = setStage('redis-cluster');
const redisUrl = (): string => stage.services.env.TIDEMARK_TEST_REDIS_CLUSTER_URL ?? '';

test('a worker is killed, and another started', () =>
	stage.underLoad('worker killed', async () => {
		await stage.cluster.end(stage.cluster.workers[0] as Member, 'SIGKILL');
		await stage.cluster.add('worker');
	}));

test('a gateway is killed, and another started', () =>
	stage.underLoad('gateway killed', async () => {
		await stage.cluster.end(stage.cluster.gateways[0] as Member, 'SIGKILL');
		await stage.cluster.add('gateway');
	}));

async function beganAnew(work: Promise<void>): Promise<void> {
	const [before] = await epochs(redisUrl());
	await work;
	const after = await epochs(redisUrl());
	expect(after).toHaveLength(1);
	expect(Number(after[0])).toBeGreaterThan(Number(before));
}

async function empty(): Promise<void> {
	await emptyRedis(redisUrl());
	await stage.look();
}

test('Redis is emptied, on every node', () =>
	beganAnew(
		stage.underLoad('Redis emptied', async (load) => {
			await emptyRedis(redisUrl());
			await load.acknowledged(100);
		}),
	));

/** Who was loaded elsewhere marks and reads until that too is removed. */
test('one node of Redis is emptied', () =>
	beganAnew(
		stage.underLoad('one node emptied', async (load) => {
			await emptyOneNode(redisUrl());
			await load.acknowledged(100);
		}),
	));

test('a node of Redis comes back as another process, with what it had a while ago', () =>
	beganAnew(
		stage.underLoad('another process with old data', async (load) => {
			await saveOneNode(redisUrl());
			await load.acknowledged(200);
			await endOneNode(redisUrl());
			await stage.services.start('redis-cluster');
			await load.acknowledged(100);
		}),
	));

/** Conversations and users are in use while they go to another one. */
test('slots of Redis are given to another node', () =>
	stage.underLoad('slots moved', async (load) => {
		const [before] = await epochs(redisUrl());
		for (const slot of await slotsInUse(redisUrl(), 40)) {
			await moveSlot(redisUrl(), slot);
			await load.acknowledged(5);
		}
		// Nothing was lost, so nothing has to be loaded anew.
		expect(await epochs(redisUrl())).toEqual([String(before)]);
	}));

test('Redis is emptied and a gateway killed at the same time', () =>
	beganAnew(
		stage.atOnce('Redis emptied, gateway killed', async () => {
			const { cluster } = stage;
			await Promise.all([empty(), cluster.end(cluster.gateways[0] as Member, 'SIGKILL')]);
			await cluster.add('gateway');
		}),
	));

test('Redis is emptied while nobody writes down what a dead worker should have', () =>
	beganAnew(
		stage.atOnce('Redis emptied, worker dead', empty, async (load) => {
			const { cluster } = stage;
			await cluster.end(cluster.workers[0] as Member, 'SIGKILL');
			await load.acknowledged(100);
		}),
	).then(() => stage.cluster.add('worker').then(() => undefined)));

/** Longer than Kafka waits for a sign of life of a worker. */
const PAST_SESSION_MS = 13_000;

test('a worker is stopped so long that another does its work, and goes on as if nothing had been', () =>
	stage.underLoad('worker paused', async (load) => {
		const [paused] = stage.cluster.workers as [Member];
		paused.pause();
		await Bun.sleep(PAST_SESSION_MS);
		// What waited for it is done by the other one.
		await load.acknowledged(100);
		paused.wake();
	}));
