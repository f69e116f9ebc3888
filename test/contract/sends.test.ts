import { afterEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Command } from '../../src/sequencer/commands.ts';
import { sequence } from '../../src/sequencer/decide.ts';
import { Conversations } from '../../src/worker/conversations.ts';
import { BEGIN, conversation, created, deleted, message, posted } from '../support/store/facts.ts';

/** Sends with a client_msg_id: which ones the owner of a conversation looks up in the store. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

const DAY = 24 * 3600 * 1e6;
const CHANNEL = conversation('C01');

async function decided(on: Conversations, clientMsgId: string, at: number, user: string) {
	const content = { text: 'x', extra: null };
	const action = { type: 'post', content, threadTs: null, broadcast: false, clientMsgId } as const;
	const command: Command = { conversation: 'C01', team: CHANNEL.team, actor: user, at, action };
	return sequence(await on.ready(command), command);
}

const decideOnly = async (on: Conversations, clientMsgId: string, at: number) =>
	(await decided(on, clientMsgId, at, 'U01')).effects;

/** An owner that starts from the stored state, and the list of sends that it looked up. */
async function owner() {
	const directory = await mkdtemp(join(tmpdir(), 'tidemark-sends-'));
	const store = await openSqliteStore(directory);
	closing.push(async () => {
		await store.close();
		await rm(directory, { recursive: true });
	});
	const asked: string[] = [];
	const begin = (lookups = 0) =>
		new Conversations(
			{
				...store.source,
				send: (id, user, clientMsgId) => {
					asked.push(`${user} ${clientMsgId}`);
					return store.source.send(id, user, clientMsgId);
				},
			},
			store.history,
			() => 0,
			undefined,
			lookups,
		);
	const post = async (on: Conversations, clientMsgId: string, at: number, user = 'U01') => {
		const { outcome, effects } = await decided(on, clientMsgId, at, user);
		await store.ledger.commit(effects);
		on.evictOld('C01', store.ledger.durable());
		if (!outcome.ok) throw new Error(outcome.error);
		const { message: posted, repeated = false } = outcome.result;
		return { ts: (posted?.ts ?? 0) - BEGIN, repeated };
	};
	return { store, asked, begin, post };
}

test('an owner looks up only sends that may be repetitions, and a later owner recognises them', async () => {
	const { store, asked, begin, post } = await owner();
	await store.ledger.commit([created(CHANNEL, ['U01', 'U02'])]);
	const first = begin();
	for (const step of [10, 20, 30]) await post(first, `id ${step}`, BEGIN + step);
	expect(await post(first, 'id 20', BEGIN + 40)).toEqual({ ts: 20, repeated: true });
	expect(await post(first, 'id 20', BEGIN + 50, 'U02')).toEqual({ ts: 50, repeated: false });
	expect(asked).toEqual([]);
	const second = begin();
	expect(await post(second, 'id 60', BEGIN + 60)).toEqual({ ts: 60, repeated: false });
	expect(asked).toEqual([]);
	expect(await post(second, 'id 10', BEGIN + 70)).toEqual({ ts: 10, repeated: true });
	expect(asked).toEqual(['U01 id 10']);
});

test('a deleted send still counts as sent; a send of more than a day ago does not', async () => {
	const { store, begin, post } = await owner();
	const gone = message('C01', BEGIN + 10, { user: 'U01', clientMsgId: 'gone' });
	await store.ledger.commit([
		created(CHANNEL, ['U01']),
		posted(CHANNEL, gone),
		deleted(CHANNEL, gone, BEGIN + 11),
	]);
	const early = begin();
	expect(await post(early, 'gone', BEGIN + 20)).toEqual({ ts: 10, repeated: true });
	expect(await post(begin(), 'gone', BEGIN + 10 + DAY)).toEqual({ ts: 10, repeated: true });
	expect(await post(begin(), 'gone', BEGIN + 11 + DAY)).toEqual({ ts: 11 + DAY, repeated: false });
	// The newest send counts.
	expect(await post(begin(), 'gone', BEGIN + 12 + DAY)).toEqual({ ts: 11 + DAY, repeated: true });
});

test('if a day has more sends than are loaded, older ones are looked up', async () => {
	const { store, asked, begin, post } = await owner();
	await store.ledger.commit([
		created(CHANNEL, ['U01']),
		...Array.from({ length: 16_400 }, (_, index) =>
			posted(CHANNEL, message('C01', BEGIN + 1 + index, { user: 'U01', clientMsgId: `m${index}` })),
		),
	]);
	const late = begin();
	expect(await post(late, 'm0', BEGIN + 20_000)).toEqual({ ts: 1, repeated: true });
	expect(await post(late, 'new', BEGIN + 20_001)).toEqual({ ts: 20_001, repeated: false });
	expect(asked).toEqual(['U01 m0', 'U01 new']);
});

test('the first few sends are looked up one by one, then all of a day are loaded; sends decided meanwhile count', async () => {
	const { store, asked, begin, post } = await owner();
	await store.ledger.commit([
		created(CHANNEL, ['U01']),
		posted(CHANNEL, message('C01', BEGIN + 10, { user: 'U01', clientMsgId: 'before' })),
	]);
	const patient = begin(2);
	expect(await post(patient, 'before', BEGIN + 20)).toEqual({ ts: 10, repeated: true });
	// Decided, and on its way to the store while the day is loaded.
	const underWay = await decideOnly(patient, 'under way', BEGIN + 30);
	expect(asked).toEqual(['U01 before', 'U01 under way']);
	expect(await post(patient, 'third', BEGIN + 40)).toEqual({ ts: 40, repeated: false });
	expect(asked).toHaveLength(2);
	await store.ledger.commit(underWay);
	// So many other sends that the looked-up ones are evicted.
	for (let step = 0; step < 1_100; step += 1) await post(patient, `more ${step}`, BEGIN + 50 + step);
	expect(await post(patient, 'under way', BEGIN + 2_000)).toEqual({ ts: 30, repeated: true });
	expect(await post(patient, 'before', BEGIN + 2_001)).toEqual({ ts: 10, repeated: true });
	expect(asked.slice(2)).toEqual(['U01 under way', 'U01 before']);
});
