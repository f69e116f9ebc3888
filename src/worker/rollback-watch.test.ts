import { expect, test } from 'bun:test';
import type { MarkPersister } from '../engine/ports/log.ts';
import type { PartitionLedger } from '../engine/ports/store.ts';
import { MarkPersistence } from './mark-persistence.ts';
import { RollbackWatch } from './rollback-watch.ts';

/** Marks are persisted to a store that keeps only offsets, and loses some of them. */

const PARTITION = 'users/7';

async function scene() {
	const offsets = new Map([[PARTITION, 48]]);
	const [restarted, reported]: [string[], string[]] = [[], []];
	let duringQuery = async (): Promise<void> => undefined;
	const ledger: PartitionLedger = {
		nextOffset: async (partition) => offsets.get(partition) ?? 0,
		nextOffsets: async () => {
			const read = new Map(offsets);
			await duringQuery();
			return read;
		},
		logIdOf: async () => null,
		commitWithProgress: async (_, { partition, to }) => void offsets.set(partition, to),
	};
	let log: MarkPersister | undefined;
	const restart = (partition: string): void => {
		restarted.push(partition);
		log?.onRevoked?.([partition]);
	};
	const marks = new MarkPersistence(
		{
			consume: (persister) => {
				log = persister;
				return { restart };
			},
		},
		ledger,
	);
	const watch = new RollbackWatch({
		ledger,
		watched: [marks],
		report: (error) => void reported.push((error as Error).message),
	});
	const persist = async (from: number, to: number) => log?.persist([], { partition: PARTITION, from, to });
	const assign = async () => log?.progress(PARTITION);
	await assign();
	await persist(48, 50);
	return {
		watch,
		offsets,
		restarted,
		reported,
		persist,
		assign,
		revoke: () => log?.onRevoked?.([PARTITION]),
		duringQuery: (work: () => Promise<void>) => {
			duringQuery = work;
		},
	};
}

test('a partition whose offset fell below the confirmed one is restarted, and reported once', async () => {
	const { watch, offsets, restarted, reported } = await scene();
	await watch.check();
	expect(restarted).toEqual([]);
	offsets.set(PARTITION, 48);
	await watch.check();
	await watch.check();
	expect(restarted).toEqual([PARTITION]);
	expect(reported).toEqual(['the store is at offset 48, after it had confirmed 50']);
});

test('a partition whose offset is missing is restarted', async () => {
	const { watch, offsets, restarted } = await scene();
	offsets.clear();
	await watch.check();
	expect(restarted).toEqual([PARTITION]);
});

test('marks persisted during the query are not taken for a rollback', async () => {
	const { watch, persist, restarted, duringQuery } = await scene();
	duringQuery(async () => void (await persist(50, 55)));
	await watch.check();
	expect(restarted).toEqual([]);
});

test('a partition that resumed from the store during the query is not restarted again', async () => {
	const { watch, offsets, assign, restarted, duringQuery } = await scene();
	offsets.set(PARTITION, 48);
	duringQuery(async () => void (await assign()));
	await watch.check();
	expect(restarted).toEqual([]);
});

test('a partition that was revoked is left to its next owner', async () => {
	const { watch, offsets, revoke, restarted } = await scene();
	revoke();
	offsets.set(PARTITION, 48);
	await watch.check();
	expect(restarted).toEqual([]);
});
