import { describe, expect, test } from 'bun:test';
import type { Subject } from './contract.ts';
import { BEGIN, conversation, created, deleted, joined, message, posted, reacted } from './facts.ts';

/** Reactions in a store: their counts, their users, and changes since a stamp. */

const at = (step: number): number => BEGIN + step;
const channel = conversation('C01', { createdTs: at(1) });
const [first, second] = [message('C01', at(5)), message('C01', at(6))];
const EVERYTHING = Number.MAX_SAFE_INTEGER;

export function reactionCases(subject: Subject): void {
	const begin = () =>
		subject.store.ledger.commit([
			created(channel, ['U01', 'U02'], at(1)),
			posted(channel, first),
			posted(channel, second),
		]);
	const names = async (ts: number) =>
		((await subject.store.history.reactions('C01', [first.ts, second.ts], 'U09')).get(ts) ?? []).map(
			({ name, count }) => [name, count],
		);
	const changes = async (since: number, upTo = at(100), user = 'U01') => {
		const found = await subject.store.changes.inside({
			user,
			since,
			upTo,
			conversations: ['C01'],
			most: { changes: 3, bytes: 10_000 },
		});
		return found?.reactions
			.map(({ user, name, added, at, current }) => [user, name, added, at - BEGIN, current?.count ?? 0])
			.sort((a, b) => Number(a[3]) - Number(b[3]));
	};

	describe('reactions', () => {
		test('are listed per message and emoji with count and users, until the last user removes theirs or the message is deleted', async () => {
			await begin();
			await subject.store.ledger.commit([
				reacted(channel, first, 'U01', '+1', at(10), 1),
				reacted(channel, first, 'U02', '+1', at(11), 2),
				reacted(channel, second, 'U02', 'eyes', at(12), 1),
				reacted(channel, second, 'U02', 'wave', at(13), 1),
				reacted(channel, second, 'U02', 'eyes', at(14), 0, false),
			]);
			const { history, source } = await subject.reopen();
			expect(await names(first.ts)).toEqual([['+1', 2]]);
			expect(await names(second.ts)).toEqual([['wave', 1]]);
			expect(await history.reactors('C01', first.ts, 10)).toEqual(new Map([['+1', ['U01', 'U02']]]));
			expect(await history.reactors('C01', first.ts, 1)).toEqual(new Map([['+1', ['U01']]]));
			expect(await source.reactionsFor('C01', first.ts, 'U02')).toMatchObject({
				reactions: [{ name: '+1', count: 2, users: ['U02'], firstTs: first.ts + 1 }],
				own: ['+1'],
			});
			expect(await source.reactionsFor('C01', second.ts, 'U01')).toMatchObject({ own: [] });
			await subject.store.ledger.commit([deleted(channel, first, at(20))]);
			expect(await names(first.ts)).toEqual([]);
			expect(await history.reactors('C01', first.ts, 10)).toEqual(new Map());
			expect(await history.reactedTo('U02', EVERYTHING, 10)).toEqual([
				{ conversation: 'C01', ts: second.ts, at: at(13) },
			]);
		});

		test('of a user are listed newest first, without removed ones', async () => {
			await begin();
			await subject.store.ledger.commit([
				reacted(channel, first, 'U02', '+1', at(10), 1),
				reacted(channel, second, 'U02', '+1', at(11), 1),
				reacted(channel, first, 'U02', 'eyes', at(12), 1),
				reacted(channel, first, 'U02', '+1', at(13), 0, false),
			]);
			const { history } = subject.store;
			const found = async (before: number, limit: number) =>
				(await history.reactedTo('U02', before, limit)).map(({ ts, at }) => [ts, at - BEGIN]);
			expect(await found(EVERYTHING, 10)).toEqual([
				[first.ts, 12],
				[second.ts, 11],
			]);
			expect(await found(EVERYTHING, 1)).toEqual([[first.ts, 12]]);
			expect(await found(at(12), 10)).toEqual([[second.ts, 11]]);
		});

		test('changes since a stamp: the newest state of each, for members, from their join on', async () => {
			await begin();
			await subject.store.ledger.commit([
				reacted(channel, first, 'U01', '+1', at(10), 1),
				reacted(channel, first, 'U02', '+1', at(11), 2),
				reacted(channel, first, 'U02', '+1', at(12), 1, false),
				reacted(channel, second, 'U02', 'eyes', at(13), 1),
				joined(channel, ['U03'], at(14), second.ts),
			]);
			expect(await changes(at(9))).toEqual([
				['U01', '+1', true, 10, 1],
				['U02', '+1', false, 12, 1],
				['U02', 'eyes', true, 13, 1],
			]);
			expect(await changes(at(10), at(12))).toEqual([['U02', '+1', false, 12, 1]]);
			expect(await changes(at(9), at(100), 'U03')).toEqual([]);
			expect(await changes(at(9), at(100), 'U04')).toEqual([]);
			// Reactions raise the conversation's stamp, which tells gateways that something changed.
			expect((await subject.store.source.briefs(['C01']))[0]?.stamp).toBe(at(14));
			await subject.store.ledger.commit([reacted(channel, second, 'U01', 'eyes', at(20), 2)]);
			expect((await subject.store.source.briefs(['C01']))[0]?.stamp).toBe(at(20));
			// More changes than the limit: too far behind.
			expect(await changes(at(9))).toBeUndefined();
			await subject.store.ledger.commit([deleted(channel, second, at(21))]);
			expect(await changes(at(12))).toEqual([]);
		});
	});
}
