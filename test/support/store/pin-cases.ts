import { describe, expect, test } from 'bun:test';
import type { ScheduledMessage } from '../../../src/engine/ports/scheduled.ts';
import type { Effect } from '../../../src/sequencer/effects.ts';
import type { Subject } from './contract.ts';
import { BEGIN, conversation, created, deleted, message, posted, TEAM, user } from './facts.ts';

/** Pins and scheduled messages in a store. */

const at = (step: number): number => BEGIN + step;
const channel = conversation('C01', { createdTs: at(1) });
const [first, second] = [message('C01', at(5)), message('C01', at(6))];

const pinned = (ts: number, step: number, added: boolean, count: number): Effect => ({
	type: 'pinned',
	conversation: channel,
	at: at(step),
	ts,
	author: 'U01',
	text: 'words',
	user: 'U02',
	added,
	count,
});

export function pinCases(subject: Subject): void {
	describe('pins', () => {
		test('current pins, changes since a stamp, and no pins of deleted messages', async () => {
			await subject.store.ledger.commit([
				created(channel, ['U01', 'U02'], at(1)),
				posted(channel, first),
				posted(channel, second),
				pinned(first.ts, 10, true, 1),
				pinned(second.ts, 11, true, 2),
				pinned(first.ts, 12, false, 1),
			]);
			const { history, changes, source } = await subject.reopen();
			expect(await history.pins('C01')).toEqual([{ ts: second.ts, user: 'U02', at: at(11) }]);
			const found = async (since: number) =>
				(
					await changes.inside({
						user: 'U01',
						since,
						upTo: at(100),
						conversations: ['C01'],
						most: { changes: 10, bytes: 10_000 },
					})
				)?.pins
					.map(({ ts, added, at, count }) => [ts, added, at - BEGIN, count])
					.sort((a, b) => Number(a[2]) - Number(b[2]));
			expect(await found(at(9))).toEqual([
				[second.ts, true, 11, 1],
				[first.ts, false, 12, 1],
			]);
			expect(await found(at(11))).toEqual([[first.ts, false, 12, 1]]);
			expect((await source.briefs(['C01']))[0]?.stamp).toBe(at(12));
			await subject.store.ledger.commit([deleted(channel, second, at(20))]);
			expect(await history.pins('C01')).toEqual([]);
			expect(await found(at(9))).toEqual([[first.ts, false, 12, 0]]);
		});
	});
}

export function scheduledCases(subject: Subject): void {
	const scheduled = (id: string, postAt: number, of = 'U01', place = 'C01'): ScheduledMessage => ({
		id,
		team: TEAM,
		user: of,
		conversation: place,
		postAt,
		createdTs: at(1),
		content: { text: `text of ${id}`, extra: null, threadTs: null, broadcast: false },
	});
	const everything = { conversation: null, oldest: 0, latest: 1_000_000, after: null, limit: 10 };
	const ids = (list: readonly ScheduledMessage[]): string[] => list.map(({ id }) => id);

	describe('scheduled messages', () => {
		test('are listed per user and by due time, until they are removed or their user is deactivated', async () => {
			await subject.store.directory.createUser(user('U01'));
			const all = [
				scheduled('Q3', 30),
				scheduled('Q2', 20),
				scheduled('Q1', 20),
				scheduled('Q4', 40, 'U01', 'C02'),
			];
			for (const one of [...all, scheduled('Q5', 5, 'U02'), scheduled('Q1', 99)])
				await subject.store.scheduled.add(one);
			const { scheduled: store, directory } = await subject.reopen();
			expect(await store.get('Q1')).toEqual(scheduled('Q1', 20));
			expect(ids(await store.of('U01', everything))).toEqual(['Q1', 'Q2', 'Q3', 'Q4']);
			expect(ids(await store.of('U01', { ...everything, conversation: 'C02' }))).toEqual(['Q4']);
			expect(ids(await store.of('U01', { ...everything, oldest: 30, latest: 30 }))).toEqual(['Q3']);
			expect(
				ids(await store.of('U01', { ...everything, after: { postAt: 20, id: 'Q1' }, limit: 2 })),
			).toEqual(['Q2', 'Q3']);
			expect(ids(await store.due(20, 10))).toEqual(['Q5', 'Q1', 'Q2']);
			expect(ids(await store.due(20, 1))).toEqual(['Q5']);
			await store.remove('Q1');
			expect(await store.get('Q1')).toBeNull();
			await directory.deactivateUser('U01', at(10), at(10));
			expect(ids(await store.due(100, 10))).toEqual(['Q5']);
		});

		test('are leased to one gateway at a time', async () => {
			const store = subject.store.scheduled;
			await store.add(scheduled('Q1', 20));
			const gateways = ['N1', 'N2', 'N3'];
			const leases = await Promise.all(gateways.map((id) => store.lease('Q1', id, 100, 200)));
			expect(leases.toSorted()).toEqual(['held', 'held', 'leased']);
			const holder = gateways[leases.indexOf('leased')] as string;
			const other = gateways[leases.indexOf('held')] as string;
			expect(await store.lease('Q1', holder, 110, 210)).toBe('leased');
			expect(await store.lease('Q1', other, 209, 309)).toBe('held');
			expect(await store.lease('Q1', other, 210, 310)).toBe('leased');
			await store.release('Q1', holder);
			expect(await store.lease('Q1', holder, 211, 311)).toBe('held');
			await store.release('Q1', other);
			expect(await store.lease('Q1', holder, 212, 312)).toBe('leased');
			expect(await store.get('Q1')).toEqual(scheduled('Q1', 20));
			await store.remove('Q1');
			expect(await store.lease('Q1', holder, 213, 313)).toBe('gone');
		});
	});
}
