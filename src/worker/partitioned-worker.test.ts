import { expect, test } from 'bun:test';
import { conversation } from '../../test/support/store/facts.ts';
import { MemoryBus } from '../engine/embedded/memory-bus.ts';
import type { ReadFact } from '../engine/ports/facts.ts';
import type { CommandHandler, CommandLog, LoggedCommand, PartitionOwner } from '../engine/ports/log.ts';
import type { History, PartitionLedger, StateSource } from '../engine/ports/store.ts';
import { Rejection } from '../model/errors.ts';
import type { Action } from '../sequencer/commands.ts';
import { PartitionedWorker } from './partitioned-worker.ts';

/** The worker of a cluster without services: the test plays the log, and the store keeps only offsets. */

const PARTITION = 'conversations/0';

interface Hooks {
	/** Awaited before a conversation is loaded. */
	readonly loading?: (conversation: string) => Promise<void>;
	/** Awaited before each transaction. */
	readonly committing?: () => Promise<void>;
	/** Persists the cursors that messages moved. */
	readonly commitMoved?: () => Promise<void>;
}

function scene({ loading, committing, commitMoved = async () => undefined }: Hooks = {}) {
	let handle: CommandHandler | undefined;
	let owner: PartitionOwner | undefined;
	const restarted: string[] = [];
	const log: Pick<CommandLog, 'consume'> = {
		consume: (handler, of) => {
			[handle, owner] = [handler, of];
			return { restart: (partition) => void restarted.push(partition) };
		},
	};
	const offsets = new Map<string, number>();
	const nextOffset = async (partition: string): Promise<number> => offsets.get(partition) ?? 0;
	const ledger: PartitionLedger = {
		nextOffset,
		nextOffsets: async () => new Map(offsets),
		logIdOf: async () => null,
		commitWithProgress: async (_, { partition, to }) => {
			await committing?.();
			offsets.set(partition, to);
		},
	};
	const source = {
		head: async (id: string) => {
			await loading?.(id);
			return { conversation: conversation(id), stamp: 0, lastTs: 0 };
		},
		timelineEntries: async () => [],
		memberships: async (_: string, users: readonly string[]) =>
			new Map(users.map((user) => [user, { member: true, joinedTs: 1 }])),
	} as unknown as StateSource;
	const sleeps: number[] = [];
	let readings = 0;
	const worker = new PartitionedWorker({
		log: log as CommandLog,
		cursorLedger: { commit: commitMoved },
		ledger,
		source,
		history: {} as History,
		views: {
			prepare: async () => () => undefined,
			apply: async (effects, _, onMoved) => onMoved(effects.map(({ at }) => movedTo(at))),
		},
		bus: new MemoryBus(),
		publications: {
			claim: async () => ({ generation: 1, published: 0, reloaded: 0 }),
			published: async () => true,
			reloading: async () => undefined,
			invalidatePositions: async () => undefined,
		},
		// Each reading is an hour earlier: the wall clock is set back all the time.
		nowMs: () => {
			readings += 1;
			return -3_600_000 * readings;
		},
		steadyMs: () => 0,
		sleep: async (ms) => {
			sleeps.push(ms);
			await Bun.sleep(0);
		},
		report: () => undefined,
	});
	worker.start();
	worker.resume();
	const assign = async (): Promise<void> => {
		await owner?.onAssigned?.([PARTITION]);
		await owner?.progress(PARTITION);
	};
	const revoke = async (): Promise<void> => {
		owner?.onReleasing?.([PARTITION]);
		await owner?.onRevoked?.([PARTITION]);
	};
	const process = async (from: number, batch: readonly LoggedCommand[]): Promise<void> =>
		handle?.(batch, { partition: PARTITION, from, to: from + batch.length });
	return { worker, assign, revoke, process, offsets, restarted, sleeps };
}

const movedTo = (at: number): ReadFact => ({
	type: 'own_post',
	user: 'U01',
	conversation: 'C1',
	at,
	inTimeline: true,
	threadTs: null,
});

const post = (id: string, offset: number, text = 'text'): LoggedCommand => {
	const content = { text, extra: null };
	const action: Action = { type: 'post', content, threadTs: null, broadcast: false, clientMsgId: null };
	return {
		command: { conversation: id, actor: 'U01', team: 'T01', at: offset + 10, action },
		replyTo: { gateway: 'g1', request: offset },
		partition: PARTITION,
		offset,
	};
};

test('a released partition does not fill the backlog with records that it could not write', async () => {
	let isHanging = true;
	const { assign, revoke, process, offsets } = scene({
		loading: async (id) => {
			if (id === 'hangs' && isHanging) await new Promise(() => undefined);
		},
	});
	await assign();
	// More than the backlog may hold, behind a command that is never decided.
	const large = 'x'.repeat(1_500_000);
	const batch = Array.from({ length: 100 }, (_, index) => post('C1', index + 1, large));
	await process(0, [post('hangs', 0), ...batch]);
	await revoke();
	expect(offsets.get(PARTITION)).toBeUndefined();

	isHanging = false;
	await assign();
	await process(0, [post('hangs', 0)]);
	await revoke();
	expect(offsets.get(PARTITION)).toBe(1);
});

test('the pause between two transactions does not depend on the wall clock', async () => {
	const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const { assign, revoke, process, offsets, sleeps } = scene({
		committing: () => {
			began.resolve();
			return goOn.promise;
		},
	});
	await assign();
	await process(0, [post('C1', 0)]);
	await began.promise;
	await process(1, [post('C1', 1)]);
	goOn.resolve();
	await revoke();
	expect(offsets.get(PARTITION)).toBe(2);
	expect(Math.max(...sleeps)).toBeLessThan(3_600_000);
});

test('a halt persists all effects, even if the cursors that they moved are rejected for a while', async () => {
	let attempts = 0;
	const { worker, assign, process, offsets, restarted } = scene({
		commitMoved: async () => {
			attempts += 1;
			if (attempts < 4) throw new Rejection('service_unavailable');
		},
	});
	await assign();
	await process(0, [post('C1', 0)]);
	await worker.halt();
	expect(offsets.get(PARTITION)).toBe(1);
	expect(restarted).toEqual([]);
});

test('a worker knows what the store has confirmed, except for partitions that it is releasing', async () => {
	const { worker, assign, revoke, process, restarted } = scene();
	await assign();
	await process(0, [post('C1', 0), post('C1', 1)]);
	await worker.halt();
	expect(worker.confirmed()).toEqual(new Map([[PARTITION, 2]]));
	worker.resumeFromStore(PARTITION);
	expect(restarted).toEqual([PARTITION]);
	const revoked = revoke();
	expect(worker.confirmed()).toEqual(new Map());
	await revoked;
});
