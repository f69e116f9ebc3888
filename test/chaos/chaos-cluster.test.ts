import { expect, test } from 'bun:test';
import { startBystanders } from '../support/chaos/bystanders.ts';
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
	tagOf,
	whatIsAt,
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

/** Every node whose markers `isLost` says so of begins another epoch, and no other node does. */
async function beganAnew(
	work: Promise<unknown>,
	isLost: (tag: string) => boolean = () => true,
): Promise<void> {
	const before = await epochs(redisUrl());
	await work;
	const after = await epochs(redisUrl());
	for (const [key, epoch] of before)
		if (isLost(tagOf(key))) expect(after.get(key)).toBeGreaterThan(epoch);
		else expect([key, after.get(key)]).toEqual([key, epoch]);
}

async function empty(): Promise<void> {
	await emptyRedis(redisUrl());
	await stage.look();
}

test('Redis is emptied, on every node', () =>
	beganAnew(
		stage.underLoad('Redis emptied', async (load) => {
			await emptyRedis(redisUrl());
			await load.acknowledged(50);
		}),
	));

test('one node of Redis is emptied: what lies on the others is counted and marked without a refusal', async () => {
	const isThere = await whatIsAt(redisUrl());
	const bystanders = await startBystanders(stage.cluster.url, isThere);
	let asked = 0;
	await beganAnew(
		stage
			.underLoad('one node emptied', async (load) => {
				await bystanders.steps(20);
				await emptyOneNode(redisUrl());
				await load.acknowledged(50);
				await bystanders.steps(20);
			})
			.finally(async () => {
				asked = await bystanders.stop();
			}),
		isThere,
	);
	console.log(`one node emptied: ${asked} counts and marks on the other nodes, 0 refused, 0 wrong`);
});

test('a node of Redis comes back as another process, with what it had a while ago', async () =>
	beganAnew(
		stage.underLoad('another process with old data', async (load) => {
			await saveOneNode(redisUrl());
			await load.acknowledged(100);
			await endOneNode(redisUrl());
			await stage.services.start('redis-cluster');
			await load.acknowledged(50);
		}),
		await whatIsAt(redisUrl()),
	));

/** Conversations and users are in use while they go to another one. */
test('slots of Redis are given to another node', () =>
	stage.underLoad('slots moved', async (load) => {
		const before = await epochs(redisUrl());
		for (const slot of await slotsInUse(redisUrl(), 20)) {
			await moveSlot(redisUrl(), slot);
			await load.acknowledged(5);
		}
		// Nothing was lost, so nothing has to be loaded anew.
		expect(await epochs(redisUrl())).toMatchObject(before);
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
			await load.acknowledged(50);
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
		await load.acknowledged(50);
		paused.wake();
	}));
