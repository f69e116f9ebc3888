import { describe, expect, test } from 'bun:test';
import type { Scripts } from '../../src/engine/cluster/redis/scripts.ts';
import { nodesOf, slotOf } from '../../src/engine/cluster/redis/slots.ts';
import type { ReadFact } from '../../src/engine/ports/facts.ts';
import type { Message } from '../../src/model/message.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { LAYOUTS } from '../support/redis.ts';
import { type ReadStateProcess, readStateWorlds } from '../support/redis-read-state.ts';
import { BEGIN, conversation, created, joined, left, message } from '../support/store/facts.ts';

/** Authors' cursors: applying effects together gives every user the same cursor as applying them one by one. */

const CHANNEL = conversation('C01');
const USERS = ['U01', 'U02', 'U03', 'U04'];
const SEEDS = 4;
const STEPS = 60;
/** For `apply`: returns the moved cursors and follows unchanged. */
const FACTS = (moved: readonly ReadFact[]): readonly ReadFact[] => moved;

/** Mulberry32. */
function randomFrom(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

const posting = (said: Message, prevTs: number | null): Effect => ({
	type: 'posted',
	conversation: CHANNEL,
	at: said.ts,
	message: said,
	prevTs,
	thread: null,
});

/** Posts, replies, broadcasts, follows, and users who leave and come back. */
function history(seed: number): Effect[] {
	const below = randomFrom(seed);
	const effects: Effect[] = [created(CHANNEL, USERS)];
	const inside = new Set(USERS);
	let [at, prevTs, root] = [BEGIN, null as number | null, null as number | null];
	for (let step = 0; step < STEPS; step += 1) {
		at += 1 + below(5);
		const user = USERS[below(USERS.length)] as string;
		const kind = below(12);
		if (!inside.has(user)) {
			inside.add(user);
			effects.push(joined(CHANNEL, [user], at, prevTs ?? 0, inside.size));
		} else if (kind === 0 && inside.size > 2) {
			inside.delete(user);
			effects.push(left(CHANNEL, user, at, inside.size));
		} else if (kind === 1 && root !== null) {
			effects.push({ type: 'followed', conversation: CHANNEL, at, user, threadTs: root, cursor: at - 1 });
		} else if (kind < 4 && root !== null) {
			const broadcast = kind === 3;
			effects.push(
				posting(message('C01', at, { user, threadTs: root, broadcast }), broadcast ? prevTs : null),
			);
			if (broadcast) prevTs = at;
		} else {
			effects.push(posting(message('C01', at, { user }), prevTs));
			prevTs = at;
			root ??= at;
		}
	}
	return effects;
}

async function fieldsOf({ commands, keys }: ReadStateProcess) {
	const all = await Promise.all(USERS.map((user) => commands.hgetall(keys.fields(user))));
	// `version` depends on how often a user was changed, which differs between batches and single posts. The
	// other fields that are left out depend on the time.
	return all.map(({ version: _, since: _since, late: _late, late_seen: _seen, ...fields }) => fields);
}

/** By subject: what the store would have in the end. */
function newest(facts: readonly ReadFact[]): Map<string, ReadFact> {
	const found = new Map<string, ReadFact>();
	for (const fact of facts) {
		const { conversation: place, threadTs } = fact as { conversation?: string; threadTs?: number };
		found.set([fact.type, fact.user, place, threadTs].join(' '), fact);
	}
	return found;
}

for (const layout of LAYOUTS)
	describe(`batches of posts on ${layout}`, () => {
		const world = readStateWorlds(layout);

		test('a batch of posts gives the same cursors and follows as single posts', async () => {
			for (let seed = 1; seed <= SEEDS; seed += 1) {
				const { process } = await world();
				const prefix = `batches-${crypto.randomUUID()}`;
				const single = await process({ prefix: `${prefix}-single:` });
				const batched = await process({ prefix: `${prefix}-batched:` });
				const effects = history(seed);
				const [one, many]: ReadFact[][] = [[], []];
				for (const effect of effects) one?.push(...(await single.readState.apply([effect], FACTS)));
				const below = randomFrom(seed + 1_000);
				for (let from = 0; from < effects.length; ) {
					const to = from + 1 + below(12);
					many?.push(...(await batched.readState.apply(effects.slice(from, to), FACTS)));
					from = to;
				}
				expect(await fieldsOf(batched), `seed ${seed}`).toEqual(await fieldsOf(single));
				expect(newest(many ?? []), `seed ${seed}`).toEqual(newest(one ?? []));
			}
		});

		test('posts of one author in a row move the cursor once', async () => {
			const { process } = await world();
			const { readState } = await process();
			await readState.apply([created(CHANNEL, USERS)], FACTS);
			const posts = Array.from({ length: 50 }, (_, index) =>
				posting(message('C01', BEGIN + 1 + index), index === 0 ? null : BEGIN + index),
			);
			const moved = await readState.apply(posts, FACTS);
			expect(moved).toMatchObject([{ type: 'cursor', user: 'U01', cursor: BEGIN + 50 }]);
		});

		test('posts of one author to many conversations at once do not disturb each other', async () => {
			const { process } = await world();
			const { readState, commands } = await process();
			const channels = Array.from({ length: 40 }, (_, index) => conversation(`C1${index}`));
			for (const channel of channels) await readState.apply([created(channel, ['U01'])], FACTS);
			const { setUser }: Scripts = commands;
			let sets = 0;
			Object.assign(commands, {
				setUser: (...args: (string | number)[]) => {
					sets += 1;
					return setUser(...args);
				},
			});
			const effects = channels.map((channel, index) => {
				const post = posting(message(channel.id, BEGIN + 1 + index), null);
				return { ...post, conversation: channel } as Effect;
			});
			const moved = await readState.apply(effects, FACTS);
			expect(new Set(moved?.map((fact) => 'conversation' in fact && fact.conversation)).size).toBe(40);
			expect(sets).toBe(40);
		});

		test('the timeline is not read if the previous message is by another author', async () => {
			const { process } = await world();
			const { readState, commands } = await process();
			await readState.apply([created(CHANNEL, USERS)], FACTS);
			// Waits for the copy that the worker loads in the background.
			expect(await readState.row('U01', 'C01')).toMatchObject({ unread: 0 });
			const { views }: Scripts = commands;
			let asked = 0;
			Object.assign(commands, {
				views: (...args: (string | number)[]) => {
					asked += 1;
					return views(...args);
				},
			});
			for (let round = 0; round < 5; round += 1)
				await readState.apply(
					USERS.map((user, index) => {
						const ts = BEGIN + 1 + round * USERS.length + index;
						return posting(message('C01', ts, { user }), ts === BEGIN + 1 ? null : ts - 1);
					}),
					FACTS,
				);
			expect(asked).toBe(0);
		});

		test('the script that applies posts also reads authors and followers on its node', async () => {
			const { process } = await world();
			const { readState, commands, keys } = await process();
			const nodeOf = nodesOf(commands);
			const isElsewhere = (user: string) => nodeOf(slotOf(user)) !== nodeOf(slotOf(CHANNEL.id));
			await readState.apply([created(CHANNEL, USERS)], FACTS);
			const { hmget } = commands;
			const read: string[] = [];
			Object.assign(commands, {
				hmget: (key: string, ...names: string[]) => {
					read.push(key);
					return hmget.call(commands, key, ...names);
				},
			});
			const posts = USERS.map((user, index) =>
				posting(message('C01', BEGIN + 1 + index, { user }), index === 0 ? null : BEGIN + index),
			);
			// The first reply makes two users followers, and has an author who now follows the thread.
			const [at, root] = [BEGIN + 10, BEGIN + 1];
			const follows = ['U01', 'U02'].map(
				(user): Effect => ({
					type: 'followed',
					conversation: CHANNEL,
					at,
					user,
					threadTs: root,
					cursor: root,
				}),
			);
			const reply = posting(message('C01', at, { user: 'U02', threadTs: root }), null);
			await readState.apply([...posts, reply, ...follows], FACTS);
			expect([...new Set(read)]).toEqual(USERS.filter(isElsewhere).map(keys.fields));
		});

		// On a cluster, the script reads U01, and a command reads U03, which is on another node than the conversation.
		for (const author of ['U01', 'U03'])
			test(`a mark made between the read of the author’s state and the post takes effect before the post of ${author}`, async () => {
				const { process } = await world();
				const [worker, gateway] = [await process(), await process()];
				await worker.readState.apply([created(CHANNEL, USERS)], FACTS);
				await worker.readState.apply([posting(message('C01', BEGIN + 1, { user: 'U02' }), null)], FACTS);
				const { apply }: Scripts = worker.commands;
				Object.assign(worker.commands, {
					apply: async (...args: (string | number)[]) => {
						// Redis answers in order: an early read of the author, sent before, does not include the mark.
						await worker.commands.hgetall(worker.keys.fields(author));
						await gateway.readState.mark(author, 'C01', { type: 'read', ts: BEGIN + 1 }, () => undefined);
						return apply(...args);
					},
				});
				const moved = await worker.readState.apply(
					[posting(message('C01', BEGIN + 2, { user: author }), BEGIN + 1)],
					FACTS,
				);
				expect(moved).toMatchObject([{ type: 'cursor', user: author, cursor: BEGIN + 2 }]);
			});

		test('a mark between applying a post and moving its author’s cursor takes effect before the post', async () => {
			const { process } = await world();
			const [worker, gateway] = [await process(), await process()];
			await worker.readState.apply([created(CHANNEL, USERS)], FACTS);
			await worker.readState.apply([posting(message('C01', BEGIN + 1, { user: 'U02' }), null)], FACTS);
			await gateway.readState.mark('U01', 'C01', { type: 'read', ts: BEGIN + 1 }, () => undefined);
			const { setUser }: Scripts = worker.commands;
			let attempts = 0;
			Object.assign(worker.commands, {
				setUser: async (...args: (string | number)[]) => {
					attempts += 1;
					if (attempts === 1)
						await gateway.readState.mark('U01', 'C01', { type: 'unread', ts: BEGIN + 1 }, () => undefined);
					return setUser(...args);
				},
			});
			// The author had read everything when the post was applied, and has an unread message when the cursor is set.
			const post = posting(message('C01', BEGIN + 2, { user: 'U01' }), BEGIN + 1);
			expect(await worker.readState.apply([post], FACTS)).toEqual([]);
			expect(attempts).toBe(1);
			expect(await gateway.readState.row('U01', 'C01')).toMatchObject({ unread: 1 });
		});
	});
