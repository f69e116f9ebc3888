import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { PostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import type { LogSpan } from '../../src/engine/ports/log.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { Backlog } from '../../src/worker/backlog.ts';
import { TrailingPersistence } from '../../src/worker/trailing-persistence.ts';
import { numbers } from '../support/log/records.ts';
import { postgresPlace } from '../support/postgres.ts';
import { BEGIN, conversation, created, joined, message, posted } from '../support/store/facts.ts';

/** Effects reach the store in transactions of a bounded size, and wait in a bounded amount of memory. */

const MAX_BYTES = 100_000;
const people = (count: number, from = 0): string[] => numbers(count, from).map((n) => `U${n}`);

let place: Awaited<ReturnType<typeof postgresPlace>>;
let store: PostgresStore;
let tests = 0;
let channel: Conversation;
let partition: string;
let spans: LogSpan[];
let gate: Promise<void> | null;
let duringSleep: () => void;
let backlog: Backlog;
let persistence: TrailingPersistence;

beforeAll(async () => {
	place = await postgresPlace();
	store = await place.open();
});
afterAll(async () => {
	await store.close();
	await place.remove();
});
beforeEach(async () => {
	tests += 1;
	channel = conversation(`C${tests}`);
	partition = `conversations/${tests}`;
	await store.ledger.commit([created(channel, ['U01'])]);
	spans = [];
	gate = null;
	duringSleep = () => undefined;
	backlog = new Backlog(MAX_BYTES);
	persistence = newPersistence();
});

function newPersistence(): TrailingPersistence {
	const watched = {
		nextOffset: (of: string) => store.nextOffset(of),
		commitWithProgress: async (facts: readonly Effect[], span: LogSpan) => {
			await gate;
			await store.commitWithProgress(facts, span);
			spans.push(span);
		},
	};
	return new TrailingPersistence({
		ledger: watched as PostgresStore,
		cursorLedger: { commit: async () => undefined },
		backlog,
		onPersisted: () => undefined,
		onFailed: (error) => {
			throw error;
		},
		steadyMs: () => 0,
		sleep: async (ms) => {
			duringSleep();
			await Bun.sleep(ms);
		},
	});
}

/** Persists each effect as the decision of one command; the commands are in the log from this offset on. */
function persist(effects: readonly Effect[], from = 0, { isUnapplied = false } = {}): void {
	const spans = effects.map((_, index) => ({ partition, from: from + index, to: from + index + 1 }));
	for (const [index, reservation] of persistence.reserve(spans).entries())
		reservation.fill({ effects: [effects[index]!], moved: [], isUnapplied });
}

const persistUnapplied = (effects: readonly Effect[], from = 0): void =>
	persist(effects, from, { isUnapplied: true });

const says = (count: number, text: string): Effect[] =>
	numbers(count, 1).map((n) => posted(channel, message(channel.id, BEGIN + n, { text })));

const ends = (): number[] => spans.map(({ to }) => to);

test('a transaction ends between two commands, with at most a thousand rows', async () => {
	persist(says(2500, 'short'));
	await persistence.flushed();
	expect(ends()).toEqual([1000, 2000, 2500]);
	expect(await store.nextOffset(partition)).toBe(2500);
	const all = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 10_000, nearest: 'oldest' } as const;
	expect((await store.history.timeline(channel.id, all)).length).toBe(2500);
});

test('under load a transaction waits for more facts', async () => {
	const [first, second, third] = says(3, 'short') as [Effect, Effect, Effect];
	const { promise, resolve } = Promise.withResolvers<void>();
	gate = promise;
	persist([first]);
	await Bun.sleep(50);
	// The second effect arrives while the first transaction runs. The third arrives in the pause after it, and
	// joins the transaction of the second.
	persist([second], 1);
	duringSleep = () => {
		duringSleep = () => undefined;
		persist([third], 2);
	};
	resolve();
	await persistence.flushed();
	expect(ends()).toEqual([1, 3]);
});

test('each member who joins counts as a row; those of one command stay in one transaction', async () => {
	const join = (count: number, from: number, at: number) =>
		joined(channel, people(count, from), BEGIN + at, 0);
	persist([join(600, 100, 1), join(600, 1000, 2), join(3000, 2000, 3), join(1, 9000, 4)]);
	await persistence.flushed();
	expect(ends()).toEqual([1, 2, 3, 4]);
	expect((await store.source.memberships(channel.id, people(3000, 2000))).size).toBe(3000);
});

test('a transaction has fewer facts if their texts are long', async () => {
	persist(says(60, 'x'.repeat(40_000)));
	await persistence.flushed();
	expect(ends().length).toBeGreaterThan(1);
	expect(ends().at(-1)).toBe(60);
});

test('the backlog has no room while too many bytes wait, however few the commands', async () => {
	const { promise, resolve } = Promise.withResolvers<void>();
	gate = promise;
	persist(says(1, 'x'.repeat(40_000)));
	expect(backlog.room()).toBeNull();
	persist([posted(channel, message(channel.id, BEGIN + 2, { text: 'x'.repeat(40_000) }))], 1);
	const room = backlog.room();
	expect(room).not.toBeNull();
	resolve();
	await room;
	await persistence.flushed();
	expect(backlog.room()).toBeNull();
});

test('the stored stamp rises when a transaction has committed, and a new owner starts at 0', async () => {
	const [first, second] = says(2, 'short') as [Effect, Effect];
	const { promise, resolve } = Promise.withResolvers<void>();
	persist([first]);
	await persistence.flushed();
	gate = promise;
	persist([second], 1);
	await Bun.sleep(50);
	expect(persistence.storedStamp(channel.id)).toBe(first.at);
	// Until the second effect is stored, the state after it must stay in memory.
	expect(persistence.durable(channel.id)).toBe(first.at);
	resolve();
	await persistence.flushed();
	expect(persistence.storedStamp(channel.id)).toBe(second.at);
	expect(persistence.durable(channel.id)).toBe(Number.POSITIVE_INFINITY);
	expect(newPersistence().storedStamp(channel.id)).toBe(0);
});

const cursorOf = async (user: string): Promise<number | undefined> =>
	(await store.source.user(user)).memberships.find((one) => one.conversation === channel.id)?.cursor;

test('a post that could not be applied moves the cursor of an author who had nothing unread', async () => {
	await store.ledger.commit([joined(channel, ['U02'], BEGIN + 1, 0)]);
	const says = (user: string, at: number) =>
		posted(channel, message(channel.id, BEGIN + at, { user, text: 'x' }));
	persistUnapplied([says('U02', 10), says('U02', 11), says('U01', 12), says('U02', 13)]);
	await persistence.flushed();
	// The message of U01 is unread for U02, and those of U02 are for U01.
	expect(await cursorOf('U02')).toBe(BEGIN + 11);
	expect(await cursorOf('U01')).toBe(0);
});

test('a mark wins over the cursor that an unapplied post moved, even a mark made before the post', async () => {
	persistUnapplied([posted(channel, message(channel.id, BEGIN + 10))]);
	await persistence.flushed();
	expect(await cursorOf('U01')).toBe(BEGIN + 10);
	const of = { joined: BEGIN, cursor: 5, revision: 1, ahead: [] };
	const mark = { type: 'cursor', user: 'U01', conversation: channel.id, at: BEGIN + 9, of } as const;
	await store.ledger.commit([{ ...mark, cursor: 5, revision: 1 }]);
	expect(await cursorOf('U01')).toBe(5);
});

test('a reply that could not be applied moves the cursor of its thread', async () => {
	const root = BEGIN + 10;
	const reply = (user: string, at: number) =>
		posted(channel, message(channel.id, BEGIN + at, { user, threadTs: root }));
	const follow: Effect = {
		type: 'followed',
		conversation: channel,
		at: BEGIN + 11,
		user: 'U01',
		threadTs: root,
		cursor: root,
	} as Effect;
	persistUnapplied([posted(channel, message(channel.id, root)), follow, reply('U01', 12)]);
	await persistence.flushed();
	const cursor = async () => (await store.source.user('U01')).follows[0]?.cursor;
	expect(await cursor()).toBe(BEGIN + 12);
	persistUnapplied([reply('U02', 13), reply('U01', 14)], 3);
	await persistence.flushed();
	expect(await cursor()).toBe(BEGIN + 12);
});
