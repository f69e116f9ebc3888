import { describe, expect, test } from 'bun:test';
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

const channel = conversation('C01');
const at = (step: number): number => BEGIN + step;

export function sourceCases(subject: Subject): void {
	describe('state of a conversation', () => {
		test('an unknown conversation has no head', async () => {
			expect(await subject.store.source.head('C01')).toBeNull();
			expect(await subject.store.source.briefs(['C01'])).toEqual([]);
			expect(await subject.store.source.briefs([])).toEqual([]);
		});

		test('the stamp rises with every change; lastTs includes deleted messages', async () => {
			const { ledger, source } = subject.store;
			const first = message('C01', at(2));
			const second = message('C01', at(3));
			const steps = [
				{ fact: created(channel, ['U01'], at(1)), stamp: 1, lastTs: -BEGIN, latest: -BEGIN },
				{ fact: posted(channel, first), stamp: 2, lastTs: 2, latest: 2 },
				{ fact: posted(channel, second), stamp: 3, lastTs: 3, latest: 3 },
				{ fact: edited(channel, first, at(4), 'x'), stamp: 4, lastTs: 3, latest: 3 },
				{ fact: joined(channel, ['U02'], at(5), at(3), 2), stamp: 5, lastTs: 3, latest: 3 },
				{ fact: followed(channel, 'U02', at(2), at(6), at(2)), stamp: 6, lastTs: 3, latest: 3 },
				{ fact: unfollowed(channel, 'U02', at(2), at(7)), stamp: 7, lastTs: 3, latest: 3 },
				{ fact: left(channel, 'U02', at(8), 1), stamp: 8, lastTs: 3, latest: 3 },
				{ fact: deleted(channel, second, at(9)), stamp: 9, lastTs: 3, latest: 2 },
				{ fact: deleted(channel, first, at(10)), stamp: 10, lastTs: 3, latest: -BEGIN },
				{
					fact: changed(channel, 'archive', at(11), { archived: true }),
					stamp: 11,
					lastTs: 3,
					latest: -BEGIN,
				},
			];
			for (const { fact, stamp, lastTs, latest } of steps) {
				await ledger.commit([fact]);
				const head = await source.head('C01');
				const [brief] = await source.briefs(['C01', 'C99']);
				expect([fact.type, head?.stamp, head?.lastTs, brief?.latest, brief?.stamp]).toEqual([
					fact.type,
					at(stamp),
					at(lastTs),
					at(latest),
					at(stamp),
				]);
			}
			expect(await source.briefs(['C01'])).toEqual([
				{ id: 'C01', team: channel.team, kind: 'public', archived: true, latest: 0, stamp: at(11) },
			]);
		});

		test('latest is a root or a broadcast reply', async () => {
			const { ledger, source } = subject.store;
			const inThread = (step: number, broadcast: boolean) =>
				posted(channel, message('C01', at(step), { threadTs: at(1), broadcast }));
			await ledger.commit([
				created(channel, ['U01']),
				posted(channel, message('C01', at(1))),
				inThread(2, false),
			]);
			expect((await source.briefs(['C01']))[0]).toMatchObject({ latest: at(1), stamp: at(2) });
			await ledger.commit([inThread(3, true), inThread(4, false)]);
			expect((await source.briefs(['C01']))[0]).toMatchObject({ latest: at(3), stamp: at(4) });
		});

		test('memberships of the given users, including former ones', async () => {
			await subject.store.ledger.commit([
				created(channel, ['U01', 'U02'], at(1)),
				left(channel, 'U02', at(2)),
			]);
			const found = await subject.store.source.memberships('C01', ['U01', 'U02', 'U03']);
			expect([...found]).toEqual([
				['U01', { member: true, joinedTs: at(1) }],
				['U02', { member: false, joinedTs: at(1) }],
			]);
			expect((await subject.store.source.memberships('C01', [])).size).toBe(0);
		});

		test('follows of a thread, including ended ones, and its undeleted replies', async () => {
			const reply = (step: number, user: string) => message('C01', at(step), { threadTs: at(1), user });
			await subject.store.ledger.commit([
				created(channel, ['U01', 'U02']),
				posted(channel, message('C01', at(1))),
				posted(channel, reply(2, 'U02')),
				posted(channel, reply(3, 'U01')),
				deleted(channel, reply(2, 'U02'), at(4)),
				followed(channel, 'U01', at(1), at(3), at(1)),
				followed(channel, 'U02', at(1), at(2), at(2)),
				unfollowed(channel, 'U02', at(1), at(5)),
			]);
			const { source } = subject.store;
			const follows = await source.follows('C01', at(1), ['U01', 'U02', 'U03']);
			expect(Object.fromEntries(follows)).toEqual({
				U01: { active: true, cursor: at(1), since: at(3) },
				U02: { active: false, cursor: 0, since: at(5) },
			});
			expect(await source.threadReplies('C01', at(1))).toEqual([{ ts: at(3), user: 'U01' }]);
		});

		test('the newest send with an id, of one user in one conversation', async () => {
			const { ledger, source } = subject.store;
			const send = (step: number, user: string) => message('C01', at(step), { user, clientMsgId: 'x' });
			await ledger.commit([1, 2].map((step) => posted(channel, send(step, 'U01'))));
			await ledger.commit([posted(channel, send(3, 'U02')), deleted(channel, send(2, 'U01'), at(4))]);
			expect(await source.send('C01', 'U01', 'x')).toBe(at(2));
			expect(await source.send('C01', 'U02', 'x')).toBe(at(3));
			expect(await source.send('C01', 'U01', 'y')).toBeNull();
			expect(await source.send('C02', 'U01', 'x')).toBeNull();
		});

		test('the newest entries up to a ts, ascending, without deleted ones', async () => {
			const { ledger, source } = subject.store;
			const root = message('C01', at(1), { named: ['U02'], here: true });
			const entry = { user: 'U01', broadcast: false, channelWide: false, here: false, named: [] };
			await ledger.commit([
				posted(channel, root),
				posted(channel, message('C01', at(2))),
				posted(channel, message('C01', at(3), { threadTs: at(1) })),
				posted(channel, message('C01', at(4), { threadTs: at(1), broadcast: true })),
				posted(channel, message('C01', at(5), { threadTs: at(1) })),
				deleted(channel, message('C01', at(2)), at(6)),
				deleted(channel, message('C01', at(5), { threadTs: at(1) }), at(7)),
			]);
			expect(await source.timelineEntries('C01', 0, at(9), 10)).toEqual([
				{ ...entry, ts: at(1), here: true, named: ['U02'] },
				{ ...entry, ts: at(4), broadcast: true },
			]);
			expect((await source.timelineEntries('C01', 0, at(9), 1)).map(({ ts }) => ts)).toEqual([at(4)]);
			expect((await source.timelineEntries('C01', 0, at(3), 10)).map(({ ts }) => ts)).toEqual([at(1)]);
			expect((await source.timelineEntries('C01', at(1), at(9), 10)).map(({ ts }) => ts)).toEqual([at(4)]);
			expect((await source.threadEntries('C01', at(1), at(9), 10)).map(({ ts }) => ts)).toEqual([
				at(3),
				at(4),
			]);
			expect((await source.threadEntries('C01', at(1), at(4), 1)).map(({ ts }) => ts)).toEqual([at(4)]);
			expect((await source.threadEntries('C01', at(1), at(3), 9)).map(({ ts }) => ts)).toEqual([at(3)]);
		});
	});

	test('sends with an id, the newest after a stamp', async () => {
		const { ledger, source } = subject.store;
		const sent = (step: number, clientMsgId: string | null) =>
			message('C01', at(step), { user: `U0${step}`, clientMsgId });
		await ledger.commit([
			...[sent(1, 'a'), sent(2, null), sent(3, 'b'), sent(4, 'a')].map((one) => posted(channel, one)),
			deleted(channel, sent(3, 'b'), at(5)),
		]);
		const found = async (after: number, limit: number) =>
			(await source.recentSends('C01', after, limit)).map((send) => [
				send.user,
				send.clientMsgId,
				send.ts - BEGIN,
			]);
		expect(await found(0, 9)).toEqual([
			['U01', 'a', 1],
			['U03', 'b', 3],
			['U04', 'a', 4],
		]);
		expect((await found(0, 2)).map(([user]) => user)).toEqual(['U03', 'U04']);
		expect((await found(at(3), 9)).map(([user]) => user)).toEqual(['U04']);
	});

	test('entries that name a user or mention everybody', async () => {
		const { ledger, source } = subject.store;
		await ledger.commit([
			posted(channel, message('C01', at(1), { named: ['U01', 'U02'] })),
			posted(channel, message('C01', at(2), { named: ['U022'] })),
			posted(channel, message('C01', at(3), { channelWide: true })),
			posted(channel, message('C01', at(4), { here: true, named: ['U02'] })),
			posted(channel, message('C01', at(5))),
			posted(channel, message('C01', at(6), { named: ['U02'] })),
			deleted(channel, message('C01', at(6), { named: ['U02'] }), at(7)),
			posted(channel, message('C01', at(8), { named: ['U02'], threadTs: at(1) })),
			edited(channel, message('C01', at(5)), at(9), 'x', { named: ['U02'] }),
		]);
		const found = async (after = 0, upTo = at(9), limit = 10) => {
			const { entries, next } = await source.mentioningEntries('C01', after, upTo, limit);
			return { steps: entries.map(({ ts }) => ts - BEGIN), next: next === null ? null : next - BEGIN };
		};
		expect(await found()).toEqual({ steps: [1, 2, 3, 4, 5], next: null });
		expect(await found(at(1), at(4))).toEqual({ steps: [2, 3, 4], next: null });
		expect(await found(0, at(5), 2)).toEqual({ steps: [4, 5], next: 3 });
		// Skipped entries count towards the limit too, so a step never reads more.
		expect(await found(0, at(9), 2)).toEqual({ steps: [5], next: 4 });
	});

	describe('entries of many conversations at once', () => {
		const other = conversation('C02');
		const tsOf = (found: ReadonlyMap<string, readonly { readonly ts: number }[]>) =>
			Object.fromEntries([...found].map(([id, entries]) => [id, entries.map(({ ts }) => ts - BEGIN)]));

		test('each within its own bounds, ascending, like single queries', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([
				...[1, 3, 5, 7].map((step) => posted(channel, message('C01', at(step), { named: ['U02'] }))),
				...[2, 4, 6].map((step) => posted(other, message('C02', at(step)))),
				deleted(channel, message('C01', at(5)), at(8)),
				posted(other, message('C02', at(9), { threadTs: at(2) })),
			]);
			const ranges = [
				{ conversation: 'C02', after: at(2), upTo: at(9) },
				{ conversation: 'C01', after: 0, upTo: at(6) },
				{ conversation: 'C99', after: 0, upTo: at(9) },
			];
			const found = await source.timelinesOf(ranges, 10);
			expect(tsOf(found)).toEqual({ C01: [1, 3], C02: [4, 6] });
			for (const { conversation: id, after, upTo } of ranges)
				expect(found.get(id) ?? []).toEqual([...(await source.timelineEntries(id, after, upTo, 10))]);
			expect(await source.timelinesOf([], 10)).toEqual(new Map());
		});

		test('only the newest of each conversation, if there are more than the limit', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([
				...[1, 2, 3, 4].map((step) => posted(channel, message('C01', at(step)))),
				...[5, 6].map((step) => posted(other, message('C02', at(step)))),
			]);
			const ranges = ['C01', 'C02'].map((id) => ({ conversation: id, after: at(0), upTo: at(9) }));
			expect(tsOf(await source.timelinesOf(ranges, 2))).toEqual({ C01: [3, 4], C02: [5, 6] });
			expect(tsOf(await source.timelinesOf(ranges, 3))).toEqual({ C01: [2, 3, 4], C02: [5, 6] });
		});

		test('more conversations than fit in one query', async () => {
			const { ledger, source } = subject.store;
			const ids = Array.from({ length: 4_100 }, (_, index) => `C${String(index).padStart(4, '0')}`);
			await ledger.commit(ids.map((id, index) => posted(conversation(id), message(id, at(index)))));
			const ranges = ids.map((id) => ({ conversation: id, after: 0, upTo: at(5_000) }));
			expect(tsOf(await source.timelinesOf(ranges, 1))).toEqual(
				Object.fromEntries(ids.map((id, index) => [id, [index]])),
			);
		});
	});

	describe('state of a user', () => {
		test('an unknown user has none', async () => {
			expect(await subject.store.source.user('U99')).toEqual({
				memberships: [],
				ahead: [],
				follows: [],
				activity: [],
				stamp: 0,
			});
		});

		test('the last cursors, ahead sets, preferences and activity', async () => {
			const { ledger, source } = subject.store;
			const activity = (step: number, active: boolean) =>
				({ type: 'activity', user: 'U01', at: at(step), active }) as const;
			await ledger.commit([
				created(channel, ['U01'], at(1)),
				created(conversation('C02'), ['U01'], at(2)),
				cursor('U01', 'C01', at(3), at(4), { ahead: { add: [at(7)] } }),
				cursor('U01', 'C01', at(3), at(5), { ahead: { add: [at(8)] } }),
				cursor('U01', 'C01', at(3), at(6), { ahead: { add: [at(9)] } }),
				activity(10, true),
				activity(11, false),
				{ type: 'preference', user: 'U01', conversation: 'C02', at: at(12), muted: true, level: 'none' },
			]);
			const plain = { member: true, revision: 0, muted: false, level: 'all' as const, preferredTs: 0 };
			expect(await source.user('U01')).toEqual({
				memberships: [
					{ ...plain, conversation: 'C01', joinedTs: at(1), cursor: at(3), changedTs: at(6) },
					{
						...plain,
						conversation: 'C02',
						joinedTs: at(2),
						cursor: 0,
						muted: true,
						level: 'none',
						changedTs: at(12),
						preferredTs: at(12),
					},
				],
				ahead: [7, 8, 9].map((step) => ({ conversation: 'C01', ts: at(step) })),
				follows: [],
				activity: [
					{ at: at(10), active: true },
					{ at: at(11), active: false },
				],
				stamp: at(12),
			});
			await ledger.commit([cursor('U01', 'C01', at(7), at(13), { ahead: { dropUpTo: at(7) } })]);
			expect((await source.user('U01')).ahead.map(({ ts }) => ts)).toEqual([at(8), at(9)]);
			await ledger.commit([cursor('U01', 'C01', at(7), at(14), { revision: 1, ahead: { dropFrom: at(9) } })]);
			const state = await source.user('U01');
			expect(state.ahead.map(({ ts }) => ts)).toEqual([at(8)]);
			expect(state.memberships[0]).toMatchObject({ cursor: at(7), revision: 1 });
			expect(state.stamp).toBe(at(14));
		});

		test('a rejoin starts over with a higher revision', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([
				created(channel, ['U01', 'U02'], at(1)),
				cursor('U01', 'C01', at(2), at(3), { revision: 4, ahead: { add: [at(9)] } }),
				{ type: 'preference', user: 'U01', conversation: 'C01', at: at(4), muted: true, level: 'mentions' },
				left(channel, 'U01', at(5), 1),
			]);
			const former = (await source.user('U01')).memberships[0];
			expect(former).toMatchObject({ member: false, cursor: at(2), revision: 4, joinedTs: at(1) });
			await ledger.commit([joined(channel, ['U01', 'U03'], at(6), at(5), 3)]);
			const state = await source.user('U01');
			expect(state.memberships).toEqual([
				{
					conversation: 'C01',
					member: true,
					joinedTs: at(6),
					cursor: at(5),
					revision: 5,
					muted: false,
					level: 'all',
					changedTs: at(6),
					preferredTs: 0,
				},
			]);
			expect(state.ahead).toEqual([]);
			expect((await source.user('U03')).memberships[0]).toMatchObject({ revision: 0, cursor: at(5) });
			expect((await source.user('U02')).memberships[0]).toMatchObject({ revision: 0, cursor: 0 });
		});

		test('marks that arrive before or after their joins and follows give the same state', async () => {
			const { ledger, source } = subject.store;
			const of = (joinedAt: number, revision: number, ahead: number[] = []) => ({
				of: { joined: at(joinedAt), cursor: at(5), revision, ahead },
			});
			const thread = { type: 'thread_cursor', user: 'U01', conversation: 'C01', threadTs: at(2) } as const;
			const muted = { type: 'preference', user: 'U01', conversation: 'C01', muted: true } as const;
			const facts: Fact[] = [
				joined(channel, ['U01'], at(3), at(2), 2),
				cursor('U01', 'C01', at(4), at(4), { revision: 1, ...of(3, 1) }),
				left(channel, 'U01', at(6), 1),
				joined(channel, ['U01'], at(7), at(5), 2),
				cursor('U01', 'C01', at(5), at(7), { revision: 2, ...of(7, 2) }),
				cursor('U01', 'C01', at(6), at(8), { revision: 2, ...of(7, 2, [at(9)]) }),
				{ ...muted, at: at(9), level: 'none', ...of(7, 2) },
				followed(channel, 'U01', at(2), at(10), at(9)),
				{ ...thread, at: at(11), cursor: at(11), since: at(10) },
			];
			const isMark = (fact: Fact) => ['cursor', 'preference', 'thread_cursor'].includes(fact.type);
			// In order; marks first; commands first; commands first, then marks newest first, as from several gateways.
			const orders = [
				facts,
				[...facts.filter(isMark), ...facts.filter((fact) => !isMark(fact))],
				[...facts.filter((fact) => !isMark(fact)), ...facts.filter(isMark)],
				[...facts.filter((fact) => !isMark(fact)), ...facts.filter(isMark).reverse()],
			];
			for (const [index, order] of orders.entries()) {
				const other = index === 0 ? channel : conversation(`C0${index}X`);
				const moved = order.map((fact) =>
					'conversation' in fact && typeof fact.conversation === 'object'
						? { ...fact, conversation: { ...fact.conversation, id: other.id } }
						: { ...fact, conversation: other.id },
				) as Fact[];
				await ledger.commit([created(other, ['U02'], at(1))]);
				for (const fact of moved) await ledger.commit([fact]);
				const { memberships, ahead, follows } = await source.user('U01');
				const here = <T extends { conversation: string }>(rows: readonly T[]) =>
					rows.filter((row) => row.conversation === other.id);
				expect(here(memberships)).toEqual([
					{
						conversation: other.id,
						member: true,
						joinedTs: at(7),
						cursor: at(6),
						revision: 2,
						muted: true,
						level: 'none',
						changedTs: at(9),
						preferredTs: at(9),
					},
				]);
				expect(here(ahead).map(({ ts }) => ts)).toEqual([at(9)]);
				expect(here(follows)).toEqual([
					{ conversation: other.id, threadTs: at(2), cursor: at(11), since: at(10), changedTs: at(11) },
				]);
			}
		});

		test('a mark that arrives before its join does not make the user a member', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([created(channel, ['U02'], at(1))]);
			const of = { joined: at(3), cursor: at(4), revision: 0, ahead: [] };
			await ledger.commit([cursor('U01', 'C01', at(4), at(5), { of })]);
			const found = await source.memberships('C01', ['U01']);
			expect(found.get('U01')).toMatchObject({ member: false, joinedTs: 0 });
		});

		test('active follows: not ended ones, and none from before the current membership', async () => {
			const { ledger, source } = subject.store;
			await ledger.commit([
				created(channel, ['U01'], at(1)),
				followed(channel, 'U01', at(2), at(2), at(2)),
				followed(channel, 'U01', at(3), at(3), at(3)),
				{
					type: 'thread_cursor',
					user: 'U01',
					conversation: 'C01',
					threadTs: at(3),
					at: at(4),
					cursor: at(4),
				},
				unfollowed(channel, 'U01', at(2), at(5)),
			]);
			const state = await source.user('U01');
			expect(state.follows).toEqual([
				{ conversation: 'C01', threadTs: at(3), cursor: at(4), since: at(3), changedTs: at(4) },
			]);
			expect(state.stamp).toBe(at(5));
			await ledger.commit([left(channel, 'U01', at(6))]);
			expect((await source.user('U01')).follows).toEqual([]);
			await ledger.commit([
				joined(channel, ['U01'], at(7), at(4)),
				followed(channel, 'U01', at(2), at(8), at(2)),
			]);
			expect((await source.user('U01')).follows.map(({ threadTs }) => threadTs)).toEqual([at(2)]);
		});
	});
}
