import { describe, expect, test } from 'bun:test';
import type { InsideQuery } from '../../../src/engine/ports/changes.ts';
import type { Fact } from '../../../src/engine/ports/facts.ts';
import type { Subject } from './contract.ts';
import {
	BEGIN,
	changed,
	conversation,
	created,
	cursor,
	deleted,
	edited,
	followed,
	joined,
	left,
	message,
	posted,
	unfollowed,
} from './facts.ts';

/** Changes since a stamp. */

const at = (step: number): number => BEGIN + step;
const channel = conversation('C01', { createdTs: at(1) });
const MOST = { changes: 100, bytes: 100_000 };

const steps = (list: readonly { readonly ts: number }[]): number[] =>
	list.map(({ ts }) => ts - BEGIN).sort((a, b) => a - b);

const preference = (step: number, muted: boolean): Fact => ({
	type: 'preference',
	user: 'U01',
	conversation: 'C01',
	at: at(step),
	muted,
	level: 'all',
});

export function changesCases(subject: Subject): void {
	const inside = (query: Partial<InsideQuery>) =>
		subject.store.changes.inside({
			user: 'U01',
			since: at(10),
			upTo: at(100),
			conversations: ['C01'],
			most: MOST,
			...query,
		});

	async function found(query: Partial<InsideQuery> = {}) {
		const changes = await inside(query);
		if (!changes) throw new Error('too much');
		const { posted: fresh, changed: altered, aspects } = changes;
		return { posted: steps(fresh.map((one) => one.message)), changed: steps(altered), aspects, fresh };
	}

	describe('changes inside conversations', () => {
		const [old, gone, kept] = [message('C01', at(5)), message('C01', at(6)), message('C01', at(7))];

		test('posts after one stamp and up to another, without those deleted since', async () => {
			const said = [at(10), at(11), at(12), at(100), at(101)].map((ts) => message('C01', ts));
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				...said.map((one) => posted(channel, one)),
				deleted(channel, said[2]!, at(102)),
			]);
			expect(await found()).toMatchObject({ posted: [11, 100], changed: [], aspects: [] });
		});

		test('of newer posts, deletions are listed as changes, and edits are not', async () => {
			const [first, second] = [message('C01', at(20)), message('C01', at(21))];
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				...[old, first, second].map((one) => posted(channel, one)),
				deleted(channel, first, at(30)),
				edited(channel, second, at(31), 'after'),
			]);
			expect(await found()).toMatchObject({ posted: [21], changed: [20] });
		});

		test('edits and deletes of older messages are listed; a newer message that was edited is listed as a post', async () => {
			const fresh = message('C01', at(20));
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				...[old, gone, kept, fresh].map((one) => posted(channel, one)),
				edited(channel, kept, at(8), 'before'),
				edited(channel, old, at(30), 'old, edited'),
				deleted(channel, gone, at(31)),
				edited(channel, fresh, at(32), 'fresh, edited'),
			]);
			const changes = await found();
			expect(changes).toMatchObject({ posted: [20], changed: [5, 6] });
			expect(changes.fresh[0]?.message).toMatchObject({ text: 'fresh, edited', editedTs: at(32) });
			expect(await found({ upTo: at(30) })).toMatchObject({ posted: [20], changed: [5] });
		});

		test('prevTs of a post is the newest message that the client has when it applies the post', async () => {
			const replies = [20, 21].map((step) =>
				message('C01', at(step), { threadTs: at(5), broadcast: step === 21 }),
			);
			const [quick, last] = [message('C01', at(25)), message('C01', at(40))];
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				posted(channel, old),
				posted(channel, gone),
				...replies.map((one) => posted(channel, one)),
				posted(channel, quick),
				deleted(channel, quick, at(26)),
				deleted(channel, gone, at(30)),
				posted(channel, last),
				deleted(channel, replies[1]!, at(50)),
			]);
			const before = async (since: number) =>
				(await found({ since: at(since) })).fresh
					.map(({ message: one, prevTs }) => [one.ts - BEGIN, prevTs - BEGIN])
					.sort((a, b) => a[0]! - b[0]!);
			// The client has 5 and 6; 6 is deleted at 30. It never gets the broadcast at 21, which is deleted by now.
			expect(await before(10)).toEqual([
				[20, 6],
				[40, 5],
			]);
			// The client also has the broadcast, which exists until 50.
			expect(await before(22)).toEqual([[40, 21]]);
		});

		test('only from the user’s join on, and only in the user’s conversations', async () => {
			const [early, late] = [message('C01', at(15)), message('C01', at(25))];
			await subject.store.ledger.commit([
				created(channel, ['U02'], at(1)),
				posted(channel, early),
				joined(channel, ['U01'], at(20), at(15)),
				posted(channel, late),
				edited(channel, early, at(26), 'edited'),
			]);
			expect(await found()).toMatchObject({ posted: [25], changed: [15] });
			expect(await found({ user: 'U02' })).toMatchObject({ posted: [15, 25], changed: [] });
			expect(await found({ user: 'U03' })).toMatchObject({ posted: [], changed: [] });
			expect(await found({ conversations: [] })).toMatchObject({ posted: [], changed: [] });
			await subject.store.ledger.commit([left(channel, 'U01', at(30))]);
			expect(await found()).toMatchObject({ posted: [], changed: [] });
		});

		test('each changed property of a conversation is listed once, with its newest change', async () => {
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				changed(channel, 'topic', at(5), {}),
				changed(channel, 'purpose', at(11), {}),
				changed(channel, 'archive', at(12), { archived: true }),
				changed(channel, 'unarchive', at(13), {}),
			]);
			const { aspects } = await found();
			expect(aspects.map(({ aspect, at: when }) => [aspect, when - BEGIN]).sort()).toEqual([
				['archive', 13],
				['purpose', 11],
			]);
			expect(aspects[0]).toMatchObject({ conversation: 'C01', actor: 'U01' });
			expect((await found({ upTo: at(12) })).aspects).toHaveLength(1);
		});

		test('null if the changes of all kinds together, or their bytes, exceed the limits', async () => {
			await subject.store.ledger.commit([
				created(channel, ['U01'], at(1)),
				posted(channel, old),
				edited(channel, old, at(11), '12345'),
				posted(channel, message('C01', at(12), { text: '12345' })),
				changed(channel, 'topic', at(13), {}),
			]);
			const within = async (most: InsideQuery['most']) => (await inside({ most })) !== null;
			expect(await within({ changes: 3, bytes: 10 })).toBe(true);
			expect(await within({ changes: 2, bytes: 10 })).toBe(false);
			expect(await within({ changes: 3, bytes: 9 })).toBe(false);
		});

		test('the changes of a few among thousands of conversations are found', async () => {
			const many = Array.from({ length: 2_500 }, (_, index) => conversation(`C${10_000 + index}`));
			await subject.store.ledger.commit(many.map((one) => created(one, ['U01'], at(2))));
			const said = many.filter((_, index) => index % 500 === 0);
			await subject.store.ledger.commit(
				said.map((one, index) => posted(one, message(one.id, at(20 + index)))),
			);
			const conversations = many.map(({ id }) => id);
			expect((await found({ conversations })).posted).toEqual([20, 21, 22, 23, 24]);
		});
	});

	describe('a user’s own changes', () => {
		test('joins, leaves, cursors and preferences, each with its stamp', async () => {
			const { ledger, changes } = subject.store;
			await ledger.commit([created(channel, ['U01', 'U02'], at(1))]);
			const own = async (since: number) => (await changes.own('U01', at(since))).memberships;
			const row = { conversation: 'C01', member: true, joinedTs: at(1), changedTs: at(1), preferredTs: 0 };
			expect(await own(0)).toEqual([row]);
			expect(await own(1)).toEqual([]);
			await ledger.commit([preference(5, true)]);
			expect(await own(1)).toEqual([{ ...row, preferredTs: at(5) }]);
			await ledger.commit([cursor('U01', 'C01', at(3), at(6))]);
			expect(await own(5)).toEqual([{ ...row, changedTs: at(6), preferredTs: at(5) }]);
			await ledger.commit([left(channel, 'U01', at(7))]);
			expect(await own(6)).toEqual([{ ...row, member: false, changedTs: at(7), preferredTs: at(5) }]);
			await ledger.commit([joined(channel, ['U01'], at(8), at(3))]);
			expect(await own(7)).toEqual([{ ...row, joinedTs: at(8), changedTs: at(8), preferredTs: 0 }]);
			expect(await own(8)).toEqual([]);
		});

		test('muting changes the stamp of the user’s state', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([created(channel, ['U01'], at(1)), preference(5, true)]);
			expect((await source.user('U01')).stamp).toBe(at(5));
		});

		test('follows that began, ended or were read', async () => {
			const { ledger, changes } = subject.store;
			await ledger.commit([
				created(channel, ['U01', 'U02'], at(1)),
				followed(channel, 'U01', at(2), at(3), at(2)),
				followed(channel, 'U02', at(2), at(4), at(2)),
			]);
			const own = async (since: number) => (await changes.own('U01', at(since))).follows;
			const row = { conversation: 'C01', threadTs: at(2), active: true, since: at(3), changedTs: at(3) };
			expect(await own(2)).toEqual([row]);
			const read = { user: 'U01', conversation: 'C01', threadTs: at(2), at: at(5), cursor: at(4) };
			await ledger.commit([{ type: 'thread_cursor', ...read }]);
			expect(await own(3)).toEqual([{ ...row, changedTs: at(5) }]);
			await ledger.commit([unfollowed(channel, 'U01', at(2), at(6))]);
			expect(await own(5)).toEqual([{ ...row, active: false, since: at(6), changedTs: at(6) }]);
			expect(await own(6)).toEqual([]);
		});
	});
}
