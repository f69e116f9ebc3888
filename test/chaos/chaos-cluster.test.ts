import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { client } from '../support/api.ts';
import { startBystanders } from '../support/chaos/bystanders.ts';
import { setStage } from '../support/chaos/stage.ts';
import type { Member } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { postgresUrl } from '../support/postgres.ts';
import {
	demoted,
	emptyOneNode,
	emptyRedis,
	endOneNode,
	epochs,
	isOnNodeAt,
	moveSlot,
	promote,
	saveOneNode,
	slotsInUse,
	tagOf,
} from '../support/redis-nodes.ts';
import { TestSocket } from '../support/socket.ts';

/**
 * Parts of a cluster die under load. Acknowledged changes are not lost, nothing exists twice, and every count equals a
 * recount.
 */

const stage = setStage({ own: ['redis-cluster'] });
const DRAINED_WITHIN_MS = 60_000;
const TAKEN_OVER_WITHIN_MS = 60_000;
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

test('every process is killed at once', () =>
	stage.underLoad('everything killed', async () => {
		const { cluster } = stage;
		const all = [...cluster.gateways, ...cluster.workers];
		await Promise.all(all.map((member) => cluster.end(member, 'SIGKILL')));
		await Promise.all(all.map(({ role }) => cluster.add(role)));
	}));

/** Checks that the nodes that lost data (by hash tag: `isLost`) begin a new epoch during the work, and that the others keep theirs. */
async function expectNewEpochs(
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
	expectNewEpochs(
		stage.underLoad('Redis emptied', async (load) => {
			await emptyRedis(redisUrl());
			await load.acknowledged(50);
		}),
	));

test('one node of Redis is emptied: counts and marks on the other nodes all succeed', async () => {
	const isThere = await isOnNodeAt(redisUrl());
	const bystanders = await startBystanders(stage.cluster.url, isThere);
	let asked = 0;
	await expectNewEpochs(
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
	console.log(`one node emptied: ${asked} counts and marks on the other nodes, 0 rejected, 0 wrong`);
});

test('a node of Redis restarts with the data of an earlier moment', async () =>
	expectNewEpochs(
		stage.underLoad('another process with old data', async (load) => {
			await saveOneNode(redisUrl());
			await load.acknowledged(100);
			await endOneNode(redisUrl());
			await stage.services.start('redis-cluster');
			await load.acknowledged(50);
		}),
		await isOnNodeAt(redisUrl()),
	));

/** The moved slots have conversations and users that are in use. */
test('slots of Redis move to another node', () =>
	stage.underLoad('slots moved', async (load) => {
		const before = await epochs(redisUrl());
		for (const slot of await slotsInUse(redisUrl(), 20)) {
			await moveSlot(redisUrl(), slot);
			await load.acknowledged(5);
		}
		// Nothing was lost, so no state is reloaded.
		expect(await epochs(redisUrl())).toMatchObject(before);
	}));

test('Redis is emptied and a gateway killed at the same time', () =>
	expectNewEpochs(
		stage.asLoadEnds('Redis emptied, gateway killed', async () => {
			const { cluster } = stage;
			await Promise.all([empty(), cluster.end(cluster.gateways[0] as Member, 'SIGKILL')]);
			await cluster.add('gateway');
		}),
	));

test('Redis is emptied while the commands of a killed worker are not persisted', () =>
	expectNewEpochs(
		stage.asLoadEnds('Redis emptied, worker dead', empty, async (load) => {
			const { cluster } = stage;
			await cluster.end(cluster.workers[0] as Member, 'SIGKILL');
			await load.acknowledged(50);
		}),
	).finally(() => stage.cluster.add('worker')));

/** Resolves when a worker rebuilds the read state: by then, all workers have persisted their decisions. */
async function drained(sql: SQL): Promise<void> {
	const key = `hashtextextended('tidemark restoring ${stage.cluster.installation}', 0)`;
	const locked = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND (classid::bigint << 32 | objid::bigint) = ${key}`;
	await eventually(async () => expect(await sql.unsafe(locked)).toHaveLength(1), DRAINED_WITHIN_MS);
}

test('workers are killed after persisting effects and before applying them to an emptied Redis', () =>
	stage.underLoad('workers killed between drain and apply', async (load) => {
		const { cluster } = stage;
		const sql = new SQL(postgresUrl(), { max: 1 });
		await sql.connect();
		// On a busy machine the workers may be killed too late: then they have begun a new epoch and applied the effects.
		for (let isApplied = true; isApplied; ) {
			await emptyRedis(redisUrl());
			await drained(sql);
			const { workers } = cluster;
			await Promise.all(workers.map((worker) => cluster.end(worker, 'SIGKILL')));
			isApplied = (await epochs(redisUrl())).size > 0;
			await Promise.all(workers.map(({ role }) => cluster.add(role)));
			await load.acknowledged(20);
		}
		await sql.close();
	}));

test('a worker is paused until another one owns its partitions, and then continues', () =>
	stage.underLoad('worker paused', async (load) => {
		const [paused, other] = stage.cluster.workers as [Member, Member];
		await paused.pause();
		// Kafka waits 10 s for a worker's heartbeat.
		await eventually(async () => {
			const metrics = await (await fetch(`${other.url}/metrics`)).text();
			expect(metrics).toMatch(/^tidemark_partitions 8$/m);
		}, TAKEN_OVER_WITHIN_MS);
		// The other worker processes the commands that waited for the paused one.
		await load.acknowledged(50);
		paused.wake();
	}));

test('masters of Redis are replaced by their replicas: by an operator, and because one is killed', async () => {
	await stage.services.add('redis-replicas');
	const replicas = stage.services.env.TIDEMARK_TEST_REDIS_REPLICAS_URL ?? '';
	expect(replicas).not.toBe('');
	await stage.underLoad('Redis failed over', async (load) => {
		await promote(replicas);
		await load.acknowledged(50);
		await demoted(redisUrl());
		// A node that was lost must first be in sync again: then its replica has everything.
		await stage.services.start('redis-replicas');
		await stage.services.haltNode('redis-cluster', 2, 'SIGKILL');
		await load.acknowledged(50);
		await stage.services.start('redis-cluster');
	});
});

const withClock = (aheadSeconds: number) => ({ TEST_CLOCK_AHEAD_MS: String(aheadSeconds * 1000) });

/** A gateway and a worker with this clock replace the oldest ones. */
async function replaceBy(aheadSeconds: number): Promise<void> {
	const { cluster } = stage;
	for (const [old] of [cluster.gateways, cluster.workers] as [Member[], Member[]]) {
		if (!old) throw new Error('no process to replace');
		await cluster.add(old.role, withClock(aheadSeconds));
		await cluster.end(old, 'SIGTERM');
	}
}

for (const [apart, ahead] of [
	[30, 30],
	[120, -90],
] as const)
	test(`clocks of processes are ${apart} s apart`, async () => {
		await stage.underLoad(`clocks ${apart} s apart`, () => replaceBy(ahead));
		await resumesAcross(stage.cluster.gateways as [Member, Member]);
	});

/**
 * A device that is ahead, because it was connected to the fast gateway, resumes and misses nothing that the slow one
 * stamped.
 */
async function resumesAcross(gateways: readonly Member[]): Promise<void> {
	const { people } = await makeWorkspace(stage.cluster.url, 2, 'Clocks');
	const [ada, grace] = people as [Person, Person];
	const makeAt = async ({ url }: Member, name: string): Promise<string> => {
		const { channel } = await client(url, ada.token)('conversations.create', { name });
		await client(url, ada.token)('conversations.invite', { channel: channel.id, users: [grace.id] });
		return channel.id;
	};
	for (const [here, there] of [gateways, gateways.toReversed()] as [Member, Member][]) {
		const loud = await makeAt(here, `loud-${here.url.slice(-5)}`);
		const quiet = await makeAt(there, `quiet-${here.url.slice(-5)}`);
		const device = new TestSocket((await client(here.url, grace.token)('rtm.connect')).url);
		await device.seen({ type: 'hello' });
		const { ts } = await client(here.url, ada.token)('chat.postMessage', { channel: loud, text: 'here' });
		const { position } = await device.seen({ type: 'message', ts });
		device.close();
		await client(there.url, ada.token)('chat.postMessage', { channel: quiet, text: 'there' });
		await client(there.url, grace.token)('conversations.mark', { channel: loud, ts });
		const { url } = await client(here.url, grace.token)('rtm.connect', { since: position });
		const again = new TestSocket(url);
		await again.seen({ type: 'message', channel: quiet, text: 'there' });
		await again.seen({ type: 'channel_marked', channel: loud, ts });
		again.close();
	}
}
