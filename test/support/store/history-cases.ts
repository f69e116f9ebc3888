import { describe, expect, test } from 'bun:test';
import type { Range } from '../../../src/engine/ports/store.ts';
import type { Subject } from './contract.ts';
import { BEGIN, conversation, created, deleted, edited, message, posted } from './facts.ts';

const ALL: Range = { after: 0, before: Number.POSITIVE_INFINITY, limit: 100, nearest: 'newest' };
const channel = conversation('C01');
const at = (step: number): number => BEGIN + step;

export function historyCases(subject: Subject): void {
	const say = (...steps: number[]) =>
		subject.store.ledger.commit(steps.map((step) => posted(channel, message('C01', at(step)))));
	const reply = (step: number, root: number, user: string, broadcast = false) =>
		posted(channel, message('C01', at(step), { threadTs: at(root), user, broadcast }));
	const timeline = async (range: Partial<Range> = {}) =>
		(await subject.store.history.timeline('C01', { ...ALL, ...range })).map(({ ts }) => ts - BEGIN);
	const replies = async (root: number, range: Partial<Range> = {}) =>
		(await subject.store.history.replies('C01', at(root), { ...ALL, ...range })).map(({ ts }) => ts - BEGIN);

	describe('history', () => {
		test('a message is read as it was posted, with everything it carries', async () => {
			const rich = message('C01', at(1), {
				text: 'naïve “quotes” 🌊 \n <@U02>',
				clientMsgId: 'a-b-c',
				named: ['U02', 'U03'],
				channelWide: true,
				here: true,
				extra: '{"blocks":[]}',
			});
			const answer = message('C01', at(2), { threadTs: at(1), broadcast: true });
			await subject.store.ledger.commit([
				created(channel, ['U01']),
				posted(channel, rich),
				posted(channel, answer),
			]);
			expect(await subject.store.history.timeline('C01', ALL)).toEqual([rich, answer]);
		});

		test('pages from either end, between exclusive bounds, in ts order', async () => {
			await say(1, 2, 3, 4, 5, 6);
			expect(await timeline({ limit: 2 })).toEqual([5, 6]);
			expect(await timeline({ limit: 2, nearest: 'oldest' })).toEqual([1, 2]);
			expect(await timeline({ after: at(2), before: at(5) })).toEqual([3, 4]);
			expect(await timeline({ after: at(2), limit: 1, nearest: 'oldest' })).toEqual([3]);
			expect(await timeline({ before: at(5), limit: 1 })).toEqual([4]);
			expect(await timeline({ after: at(6) })).toEqual([]);
			expect(await subject.store.history.timeline('C99', ALL)).toEqual([]);
		});

		test('replies are in their thread, and in the timeline only if broadcast', async () => {
			await say(1);
			await subject.store.ledger.commit([reply(2, 1, 'U02'), reply(3, 1, 'U03', true)]);
			expect(await timeline()).toEqual([1, 3]);
			expect(await replies(1)).toEqual([2, 3]);
			expect(await replies(1, { limit: 1 })).toEqual([3]);
			expect(await replies(1, { limit: 1, nearest: 'oldest' })).toEqual([2]);
			expect(await replies(1, { after: at(2) })).toEqual([3]);
			expect(await replies(2)).toEqual([]);
		});

		test('a deleted root is a tombstone while it has replies; other deleted messages are gone', async () => {
			await say(1, 2);
			const root = message('C01', at(1));
			const answers = [
				message('C01', at(3), { threadTs: at(1) }),
				message('C01', at(4), { threadTs: at(1), broadcast: true }),
			];
			await subject.store.ledger.commit([
				...answers.map((answer) => posted(channel, answer)),
				deleted(channel, root, at(5)),
				deleted(channel, message('C01', at(2)), at(6)),
			]);
			expect(await timeline()).toEqual([1, 4]);
			expect((await subject.store.history.timeline('C01', ALL))[0]).toMatchObject({
				deleted: true,
				text: '',
			});
			await subject.store.ledger.commit([deleted(channel, answers[1] as typeof root, at(7))]);
			expect(await timeline()).toEqual([1]);
			expect(await replies(1)).toEqual([3]);
			await subject.store.ledger.commit([deleted(channel, answers[0] as typeof root, at(8))]);
			expect(await timeline()).toEqual([]);
			expect(await replies(1)).toEqual([]);
		});

		test('an edit changes the message at its place', async () => {
			await say(1, 2);
			const [first] = await subject.store.history.messages('C01', [at(1)]);
			const edit = edited(channel, first as NonNullable<typeof first>, at(3), 'better');
			await subject.store.ledger.commit([edit]);
			expect(await timeline()).toEqual([1, 2]);
			expect(await subject.store.history.messages('C01', [at(1)])).toEqual([
				message('C01', at(1), { text: 'better', editedTs: at(3), changedTs: at(3) }),
			]);
		});

		test('single messages in ts order: deleted ones are included, unknown ones are not', async () => {
			await say(1, 2, 3);
			await subject.store.ledger.commit([deleted(channel, message('C01', at(2)), at(4))]);
			const found = await subject.store.history.messages('C01', [at(3), at(99), at(2), at(1)]);
			expect(found.map(({ ts, deleted: gone }) => [ts - BEGIN, gone])).toEqual([
				[1, false],
				[2, true],
				[3, false],
			]);
			expect(await subject.store.history.messages('C01', [])).toEqual([]);
			expect(await subject.store.history.messages('C02', [at(1)])).toEqual([]);
		});

		test('a page ends with the message that reaches the byte limit, in UTF-8', async () => {
			const steps = [1, 2, 3, 4, 5, 6];
			// 3 bytes per character, and 2 for JSON: 302.
			const sized = (step: number) => message('C01', at(step), { text: '€'.repeat(100), extra: '{}' });
			await subject.store.ledger.commit(steps.map((step) => posted(channel, sized(step))));
			expect(await timeline({ mostBytes: 302 * 6 + 1 })).toEqual(steps);
			expect(await timeline({ mostBytes: 302 * 2 })).toEqual([5, 6]);
			expect(await timeline({ mostBytes: 302 * 2 + 1 })).toEqual([4, 5, 6]);
			expect(await timeline({ mostBytes: 302 * 2, nearest: 'oldest' })).toEqual([1, 2]);
			expect(await timeline({ mostBytes: 1 })).toEqual([6]);
			expect(await timeline({ mostBytes: 1, after: at(3), limit: 50, nearest: 'oldest' })).toEqual([4]);
			const chosen = async (nearest: Range['nearest'], mostBytes: number) => {
				const most = { nearest, mostBytes };
				const found = await subject.store.history.messages('C01', [...steps, 99].map(at), most);
				return found.map(({ ts }) => ts - BEGIN);
			};
			expect(await chosen('newest', 604)).toEqual([5, 6]);
			expect(await chosen('oldest', 605)).toEqual([1, 2, 3]);
			expect(await chosen('oldest', 10_000)).toEqual(steps);
			await subject.store.ledger.commit(
				[11, 12, 13, 14, 15, 16].map((step) => posted(channel, { ...sized(step), threadTs: at(1) })),
			);
			expect(await replies(1, { mostBytes: 604 })).toEqual([15, 16]);
			expect(await replies(1, { mostBytes: 604, nearest: 'oldest' })).toEqual([11, 12]);
		});

		test('threads are summarised for a page of roots', async () => {
			await say(1, 2, 3);
			await subject.store.ledger.commit([
				...['U02', 'U03', 'U02', 'U04', 'U05', 'U06', 'U07'].map((user, index) => reply(10 + index, 1, user)),
				reply(20, 2, 'U02'),
				reply(30, 3, 'U02'),
				deleted(channel, message('C01', at(30), { threadTs: at(3) }), at(40)),
			]);
			expect(await subject.store.history.threads('C01', [at(1), at(2), at(3), at(4)])).toEqual([
				{
					threadTs: at(1),
					replyCount: 7,
					latestReply: at(16),
					replyUsers: ['U02', 'U03', 'U04', 'U05', 'U06'],
					replyUsersCount: 6,
				},
				{ threadTs: at(2), replyCount: 1, latestReply: at(20), replyUsers: ['U02'], replyUsersCount: 1 },
			]);
			expect(await subject.store.history.threads('C01', [])).toEqual([]);
		});

		test('the summary of a large thread stays exact after replies and deletes', async () => {
			await say(1, 2);
			const steps = Array.from({ length: 1_200 }, (_, index) => 10 + index);
			const user = (step: number) => `U${step % 300}`;
			await subject.store.ledger.commit([
				...steps.map((step) => reply(step, 1, user(step))),
				reply(2_000, 2, 'U02'),
			]);
			const sums = async () =>
				(await subject.store.history.threads('C01', [at(1), at(2)]))
					.map((info) => [
						info.threadTs - at(0),
						info.replyCount,
						info.latestReply - at(0),
						info.replyUsersCount,
					])
					.sort(([a = 0], [b = 0]) => a - b);
			const small = [2, 1, 2_000, 1];
			expect(await sums()).toEqual([[1, 1_200, 1_209, 300], small]);
			await subject.store.ledger.commit([reply(3_000, 1, 'U900')]);
			expect(await sums()).toEqual([[1, 1_201, 3_000, 301], small]);
			const gone = message('C01', at(3_000), { threadTs: at(1), user: 'U900' });
			await subject.store.ledger.commit([deleted(channel, gone, at(3_001))]);
			expect(await sums()).toEqual([[1, 1_200, 1_209, 300], small]);
		});
	});
}
