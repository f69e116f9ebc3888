import { describe, expect, test } from 'bun:test';
import type { Fact } from '../../../src/engine/ports/facts.ts';
import type { Store } from '../../../src/engine/ports/store.ts';
import type { Subject } from './contract.ts';
import {
	BEGIN,
	conversation,
	created,
	cursor,
	followed,
	joined,
	left,
	message,
	posted,
	unfollowed,
} from './facts.ts';

const USERS = ['U01', 'U02', 'U03'];
const CHANNELS = [conversation('C01'), conversation('C02')];
const channel = CHANNELS[0] as (typeof CHANNELS)[number];

/** Pseudo-random numbers that are the same in every run. */
function* numbers(seed: number): Generator<number, never> {
	for (let state = seed; ; ) {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		yield state / 2 ** 32;
	}
}

/** Facts about the same few rows in any order, so that all kinds of writes meet on a row. */
function randomFacts(seed: number, count: number): Fact[] {
	const random = numbers(seed);
	const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next().value * items.length)] as T;
	const facts: Fact[] = CHANNELS.map((one) => created(one, USERS));
	for (let step = 1; step <= count; step += 1) {
		const at = BEGIN + step;
		const user = pick(USERS);
		const subject = pick(CHANNELS);
		const threadTs = BEGIN + pick([1, 2]);
		const of = subject.id;
		const ts = BEGIN + pick([3, 5, 8, 13]);
		const ahead = pick([
			{},
			{ ahead: { add: [ts + 1] } },
			{ ahead: { dropUpTo: ts } },
			{ ahead: { dropFrom: ts } },
		]);
		facts.push(
			pick<Fact>([
				cursor(user, of, ts, at, { revision: step, ...ahead }),
				cursor(user, of, ts, at, { revision: step }),
				posted(subject, message(of, at, { user })),
				{ type: 'preference', user, conversation: of, at, muted: pick([true, false]), level: 'mentions' },
				left(subject, user, at),
				joined(subject, [user], at, ts),
				followed(subject, user, threadTs, at, ts),
				unfollowed(subject, user, threadTs, at),
				{ type: 'thread_cursor', user, conversation: of, threadTs, at, cursor: ts },
			]),
		);
	}
	return facts;
}

async function everythingIn(store: Store): Promise<unknown> {
	const { source, directory, history } = store;
	const range = { after: 0, before: Number.POSITIVE_INFINITY, limit: 10_000, nearest: 'oldest' } as const;
	return {
		users: await Promise.all(USERS.map((one) => source.user(one))),
		heads: await Promise.all(CHANNELS.map(({ id }) => source.head(id))),
		members: await Promise.all(CHANNELS.map(({ id }) => directory.members(id, null, 100))),
		messages: await Promise.all(CHANNELS.map(({ id }) => history.timeline(id, range))),
		follows: await Promise.all(
			CHANNELS.flatMap(({ id }) => [1, 2].map((root) => source.follows(id, BEGIN + root, USERS))),
		),
	};
}

export function ledgerCases(subject: Subject): void {
	describe('ledger', () => {
		test('facts written together give the same state as facts written one by one', async () => {
			for (const seed of [1, 2, 3]) {
				const facts = randomFacts(seed, 400);
				const together = await subject.another();
				const oneByOne = await subject.another();
				await together.ledger.commit(facts);
				for (const fact of facts) await oneByOne.ledger.commit([fact]);
				expect(await everythingIn(together)).toEqual(await everythingIn(oneByOne));
			}
		});

		test('commits settle in their order', async () => {
			const { ledger } = subject.store;
			const order: number[] = [];
			await ledger.commit([created(channel, USERS)]);
			const all = Array.from({ length: 300 }, async (_, index) => {
				if (index % 7 === 0) await Promise.resolve();
				await ledger.commit([posted(channel, message('C01', BEGIN + 1 + index))]);
				order.push(index);
			});
			await Promise.all(all);
			expect(order).toHaveLength(300);
			const undelayed = order.filter((index) => index % 7 !== 0);
			expect(undelayed).toEqual([...undelayed].sort((a, b) => a - b));
		});

		test('a settled commit can be read, and durable() includes it', async () => {
			const { ledger, history, source } = subject.store;
			await ledger.flushed();
			await ledger.commit([]);
			const future = Date.now() * 1000 + 3600e6;
			void ledger.commit([created(channel, USERS), posted(channel, message('C01', future))]);
			void ledger.commit([cursor('U01', 'C01', future, future + 5)]);
			expect(ledger.durable()).toBeLessThan(future);
			await ledger.flushed();
			expect(ledger.durable()).toBe(future + 5);
			expect(await history.messages('C01', [future])).toHaveLength(1);
			expect((await source.user('U01')).memberships[0]?.cursor).toBe(future);
			expect(await subject.store.newestStamp()).toBe(future + 5);
		});

		test('a reopened store has all facts', async () => {
			await subject.store.ledger.commit(randomFacts(4, 300));
			await subject.store.directory.reserveName('T01', 'kept', 'C09', BEGIN);
			const before = await everythingIn(subject.store);
			const newest = await subject.store.newestStamp();
			const store = await subject.reopen();
			expect(await everythingIn(store)).toEqual(before);
			expect(await store.directory.reserveName('T01', 'kept', 'C10', BEGIN + 1)).toBe(false);
			expect(await store.newestStamp()).toBeGreaterThan(newest);
			expect(store.ledger.durable()).toBeGreaterThanOrEqual(newest);
		});

		test('every start is recorded with a stamp after all earlier ones', async () => {
			const future = Date.now() * 1000 + 3600e6;
			await subject.store.ledger.commit([created(channel, USERS, future)]);
			const store = await subject.reopen();
			const starts = await store.source.starts();
			expect(starts).toHaveLength(2);
			expect(starts[0] as number).toBeLessThan(future);
			expect(starts[1] as number).toBeGreaterThan(future);
			expect(await store.newestStamp()).toBe(starts[1] as number);
		});

		test('a closed store rejects commits', async () => {
			const store = await subject.another();
			await store.close();
			const problem = await store.ledger.commit([created(channel, USERS)]).catch((error) => error);
			expect(problem).toMatchObject({ code: 'service_unavailable' });
			await store.close();
		});
	});
}
