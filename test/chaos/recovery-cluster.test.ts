import { afterEach, expect, test } from 'bun:test';
import { SessionLock } from '../../src/engine/cluster/postgres/session-lock.ts';
import { Recovery } from '../../src/engine/cluster/recovery.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { eventually } from '../support/eventually.ts';
import { postgresPlace } from '../support/postgres.ts';
import { connectBoth, redisPlace } from '../support/redis.ts';

/** The order of steps that rebuild a lost read state. */

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

test('recovery clears the lost node, so that nobody can mark there, before it reads up to which offset marks must be persisted', async () => {
	const { commands, close } = await connectBoth(redisPlace('redis-cluster'));
	closing.push(close);
	const place = await postgresPlace();
	closing.push(() => place.remove());
	const keys = new Keys(redisPlace('redis-cluster').prefix);
	const epochs = new Epochs(commands, keys.prefix);
	await epochs.begin(() => 1);
	expect(await epochs.lost()).toEqual([]);
	await commands.hset(keys.fields('U01'), 'stamp', 1);
	await commands.hset(keys.fields('U03'), 'stamp', 1);
	await commands.unlink(await epochs.markerBeside('U02'));

	const seen: Record<string, unknown>[] = [];
	let written = 0;
	const look = async (step: string) =>
		seen.push({
			step,
			loaded: await commands.exists(keys.fields('U01')),
			lost: (await epochs.lost()).length,
		});
	const recovery = new Recovery({
		epochs,
		lock: new SessionLock(place),
		worker: {
			halt: () => look('halt').then(() => undefined),
			resume: () => void seen.push({ step: 'resume' }),
		},
		endOfMarks: async () => {
			await look('marks');
			return new Map([['users-0', 3]]);
		},
		nextOffsets: async () => {
			written += 1;
			if (written === 3) await look('written');
			return new Map([['users-0', written]]);
		},
		onReloading: async () => void seen.push({ step: 'all nodes' }),
		nowMicros: () => 2,
		log: () => undefined,
		onTrouble: (error) => {
			throw error;
		},
		onLost: () => undefined,
		onComplete: () => undefined,
	});
	closing.push(() => recovery.stop());
	await recovery.start();
	expect(seen).toEqual([
		{ step: 'halt', loaded: 1, lost: 1 },
		{ step: 'marks', loaded: 0, lost: 1 },
		{ step: 'written', loaded: 0, lost: 1 },
		{ step: 'resume' },
	]);
	expect(await epochs.completeSince()).toBe(2);
	// State on another node stays.
	expect(await commands.exists(keys.fields('U03'))).toBe(1);

	seen.length = 0;
	await epochs.endAll();
	const steps = () => seen.map(({ step }) => step).filter((step) => step !== 'resume');
	await eventually(async () => expect(steps()).toEqual(['halt', 'marks', 'all nodes']));
});
