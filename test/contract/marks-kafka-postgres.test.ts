import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { PostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import type { ReadFact } from '../../src/engine/ports/facts.ts';
import type { MarkPersister } from '../../src/engine/ports/log.ts';
import { eventually } from '../support/eventually.ts';
import { kafkaPlace } from '../support/kafka.ts';
import { numbers } from '../support/log/records.ts';
import { postgresPlace } from '../support/postgres.ts';
import { BEGIN, conversation, created } from '../support/store/facts.ts';

/** Marks from the log to the store: in batches, with a second persister that starts and stops, and without loss. */

const USERS = numbers(50).map((n) => `U${n}`);
const mark = (user: string, ts: number): ReadFact => ({
	type: 'cursor',
	user,
	conversation: 'C01',
	at: ts,
	cursor: ts,
	revision: 0,
});
let kafka: ReturnType<typeof kafkaPlace>;
let place: Awaited<ReturnType<typeof postgresPlace>>;
let store: PostgresStore;

beforeAll(async () => {
	kafka = kafkaPlace({ partitions: 4 });
	place = await postgresPlace({ writes: 4 });
	store = await place.open();
	await store.ledger.commit([created(conversation('C01'), USERS)]);
}, 60_000);
afterAll(async () => {
	await kafka.close();
	await store.close();
	await place.remove();
});

test('every mark reaches the store, in far fewer transactions than marks', async () => {
	let transactions = 0;
	const persister: MarkPersister = {
		progress: (partition) => store.nextOffset(partition),
		async persist(facts, span) {
			await store.commitWithProgress(facts, span);
			transactions += 1;
		},
	};
	const a = await kafka.open();
	a.marks.consume(persister);
	const b = await kafka.open();
	for (const n of numbers(60, 1)) {
		await a.marks.append(USERS.map((user) => mark(user, BEGIN + n)));
		if (n === 15) b.marks.consume(persister);
		if (n === 45) await b.close();
		await Bun.sleep(30);
	}
	const newest = async (): Promise<number[]> => {
		const states = await Promise.all(USERS.map((user) => store.source.user(user)));
		return states.map(({ memberships }) => memberships[0]?.cursor ?? 0);
	};
	await eventually(async () => expect(await newest()).toEqual(USERS.map(() => BEGIN + 60)), 30_000);
	let read = 0;
	for (const n of numbers(4)) read += await store.nextOffset(kafka.partition('users', n));
	expect(read).toBe(60 * USERS.length);
	expect(transactions).toBeLessThan(500);
}, 60_000);
