import { expect, test } from 'bun:test';
import { setStage } from '../support/chaos/stage.ts';
import type { Member } from '../support/cluster.ts';
import { emptyRedis, epochs } from '../support/redis-nodes.ts';

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

test('Redis is emptied, on every node', async () => {
	const [before] = await epochs(redisUrl());
	await stage.underLoad('Redis emptied', () => emptyRedis(redisUrl()).then(() => undefined));
	const after = await epochs(redisUrl());
	expect(after).toHaveLength(1);
	expect(Number(after[0])).toBeGreaterThan(Number(before));
});

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
