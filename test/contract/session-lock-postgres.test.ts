import { afterEach, expect, test } from 'bun:test';
import { SessionLock, type SessionLockOptions } from '../../src/engine/cluster/postgres/session-lock.ts';
import { Recovery, type RecoveryParts } from '../../src/engine/cluster/recovery.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { postgresPlace } from '../support/postgres.ts';

/** The lock that workers share while they may have something to write. */

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

/** Locks of one installation, directly or through a proxy. */
async function locks() {
	const place = await postgresPlace();
	closing.push(() => place.remove());
	const { hostname, port } = new URL(place.url);
	const proxy = await cuttingProxy(hostname, Number(port));
	closing.push(() => proxy.stop());
	const through = new URL(place.url);
	through.port = String(proxy.port);
	const lock = (url: string, options: Partial<SessionLockOptions> = {}) => {
		const made = new SessionLock({ url, schema: place.schema, ...options });
		closing.push(() => made.close());
		return made;
	};
	return {
		proxy,
		direct: (silentAfterMs = 15_000) => lock(place.url, { silentAfterMs }),
		through: () => lock(through.href, { answerWithinMs: 500 }),
	};
}

test('many processes share the lock or one holds it; sharing waits for the holder', async () => {
	const { direct } = await locks();
	const [one, two, three] = [direct(), direct(), direct()];
	await Promise.all([one.share(), two.share()]);
	expect(await three.tryExclusive()).toBe(false);
	await one.release();
	await two.release();
	expect(await three.tryExclusive()).toBe(true);
	let shared = false;
	const waiting = one.share().then(() => {
		shared = true;
	});
	await Bun.sleep(300);
	expect(shared).toBe(false);
	await three.release();
	await waiting;
});

test('of processes that did not get the lock, one is elected, until it releases or loses its connection', async () => {
	const { proxy, through, direct } = await locks();
	const [one, two, three] = [through(), direct(), direct()];
	await three.share();
	expect(await one.tryExclusive()).toBe(false);
	expect([await one.tryElect(), await one.tryElect(), await two.tryElect()]).toEqual([true, true, false]);
	await one.release();
	expect([await two.tryElect(), await two.isElected(), await one.tryElect()]).toEqual([true, true, false]);
	await two.release();
	expect(await two.isElected()).toBe(false);
	expect(await one.tryElect()).toBe(true);
	proxy.cutNext('pg_backend_pid', 'silence');
	expect(await one.isElected().catch(() => 'failed')).toBe('failed');
	expect(await one.isElected()).toBe(false);
});

for (const word of ['pg_backend_pid', 'pg_try_advisory_lock_shared'])
	test(`the lock does not wait for a server that falls silent at ${word}, and is taken again afterwards`, async () => {
		const { proxy, through, direct } = await locks();
		const [cut, other] = [through(), direct()];
		proxy.cutNext(word, 'silence');
		const failed = await cut.share().then(
			() => null,
			(error: unknown) => error,
		);
		expect(failed).toBeInstanceOf(Error);
		// A busy machine may take longer for an answer than the lock waits.
		await eventually(() => cut.share(), 30_000);
		expect(await other.tryExclusive()).toBe(false);
	});

/** Two workers share the lock when Redis is lost. `halt` is what the slow worker does before it releases the lock. */
async function rebuildBeside(
	slow: SessionLock,
	other: SessionLock,
	halt: (steps: string[]) => Promise<void>,
) {
	/** What the other worker logged while it waited, and what both did. */
	const steps: string[] = [];
	let isLost = false;
	const recovery = (lock: SessionLock, halted: () => Promise<void>, log: (what: string) => void) => {
		const made = new Recovery({
			epochs: {
				lost: async () => (isLost ? ['a node'] : []),
				clear: async () => undefined,
				begin: async () => {
					isLost = false;
					steps.push('rebuilt');
				},
				endAll: async () => {
					isLost = true;
					steps.push('ended');
				},
				areAllNodes: () => false,
				tidy: async () => undefined,
			},
			lock,
			worker: { halt: halted, resume: () => undefined },
			endOfMarks: async () => new Map(),
			nextOffsets: async () => new Map(),
			nowMicros: () => 0,
			log,
			onTrouble: () => undefined,
			onLost: () => undefined,
			onComplete: () => undefined,
			othersWithinMs: 10,
		} as unknown as RecoveryParts);
		closing.push(() => made.stop());
		return made;
	};
	await recovery(
		slow,
		async () => {
			await halt(steps);
			steps.push('persisted');
		},
		() => undefined,
	).start();
	await recovery(
		other,
		async () => undefined,
		(what) => {
			if (what.startsWith('A worker')) steps.push('waited');
		},
	).start();
	isLost = true;
	return { steps };
}

test('a rebuild waits for a worker that is alive and still writes to PostgreSQL', async () => {
	const { direct } = await locks();
	const { steps } = await rebuildBeside(direct(), direct(), async (sofar) => {
		while (sofar.length < 5 && !sofar.includes('rebuilt')) await Bun.sleep(10);
	});
	await eventually(async () => expect(steps).toContain('rebuilt'), 30_000);
	expect(steps.filter((step) => step !== 'waited')).toEqual(['persisted', 'rebuilt']);
}, 60_000);

test('a rebuild does not wait for a worker whose connection is silent', async () => {
	const { direct } = await locks();
	const { steps } = await rebuildBeside(direct(), direct(0), async (sofar) => {
		while (!sofar.includes('rebuilt')) await Bun.sleep(10);
	});
	await eventually(async () => expect(steps).toEqual(['waited', 'rebuilt', 'persisted']), 30_000);
}, 60_000);

test('if a worker lost its lock with its connection and another worker rebuilt without it, Redis is rebuilt again', async () => {
	const { proxy, through, direct } = await locks();
	const { steps } = await rebuildBeside(through(), direct(), async (sofar) => {
		proxy.cutNext('pg_backend_pid', 'before');
		for (const end = performance.now() + 20_000; !sofar.includes('ended') && performance.now() < end; )
			await Bun.sleep(10);
	});
	await eventually(async () => expect(steps.filter((step) => step === 'rebuilt')).toHaveLength(2), 30_000);
	expect(steps.filter((step) => step !== 'waited')).toEqual(['rebuilt', 'ended', 'persisted', 'rebuilt']);
}, 60_000);
