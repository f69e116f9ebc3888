import { describe, expect, test } from 'bun:test';
import type { ConversationKind } from '../../../src/model/ids.ts';
import { allPages } from './account-cases.ts';
import type { Subject } from './contract.ts';
import {
	BEGIN,
	changed,
	conversation,
	created,
	cursor,
	joined,
	left,
	message,
	posted,
	TEAM,
} from './facts.ts';

/** Channel names and conversations in a store. */

const MINUTE = 60_000_000;

export function directoryCases(subject: Subject): void {
	describe('channel names', () => {
		const reserve = (name: string, of: string, at: number) =>
			subject.store.directory.reserveName(TEAM, name, of, at);

		test('a reserved name is denied to other conversations, and granted again to its holder', async () => {
			expect(await reserve('general', 'C01', BEGIN)).toBe(true);
			expect(await reserve('general', 'C02', BEGIN + 1)).toBe(false);
			expect(await reserve('general', 'C01', BEGIN + 2)).toBe(true);
			expect(await subject.store.directory.reserveName('T02', 'general', 'C03', BEGIN)).toBe(true);
		});

		test('if several conversations reserve a name at once, one gets it', async () => {
			const granted = await Promise.all(['C01', 'C02', 'C03'].map((id) => reserve('general', id, BEGIN)));
			expect(granted).toEqual([true, false, false]);
		});

		test('a released name is free, unless a conversation exists with it', async () => {
			const { directory, ledger } = subject.store;
			await reserve('general', 'C01', BEGIN);
			await directory.releaseName(TEAM, 'general', 'C02');
			expect(await reserve('general', 'C02', BEGIN + 1)).toBe(false);
			await directory.releaseName(TEAM, 'general', 'C01');
			expect(await reserve('general', 'C02', BEGIN + 2)).toBe(true);
			await ledger.commit([created(conversation('C02', { name: 'general' }), ['U01'])]);
			await directory.releaseName(TEAM, 'general', 'C02');
			expect(await reserve('general', 'C03', BEGIN + 3)).toBe(false);
		});

		test('a reservation never expires; an unused one can be found, and released unless it was renewed', async () => {
			const { directory } = subject.store;
			await reserve('general', 'C01', BEGIN);
			expect(await reserve('general', 'C02', BEGIN + 100 * MINUTE)).toBe(false);
			expect(await directory.abandonedName(TEAM, 'general', BEGIN - 1)).toBeNull();
			expect(await directory.abandonedName(TEAM, 'general', BEGIN)).toBe('C01');
			await reserve('general', 'C01', BEGIN + 1);
			await directory.releaseName(TEAM, 'general', 'C01', BEGIN);
			expect(await reserve('general', 'C02', BEGIN + 2)).toBe(false);
			await directory.releaseName(TEAM, 'general', 'C01', BEGIN + 1);
			expect(await reserve('general', 'C02', BEGIN + 2)).toBe(true);
		});

		test('the name of an existing conversation is never taken over', async () => {
			const general = conversation('C01', { name: 'general' });
			await subject.store.ledger.commit([created(general, ['U01'])]);
			expect(await reserve('general', 'C02', BEGIN + 100 * MINUTE)).toBe(false);
			expect(await subject.store.directory.abandonedName(TEAM, 'general', BEGIN + 100 * MINUTE)).toBeNull();
		});

		test('renaming frees the old name and keeps the new one', async () => {
			const before = conversation('C01', { name: 'old' });
			const rename = changed(before, 'rename', BEGIN + 5, { name: 'new', previousNames: ['old'] });
			await subject.store.ledger.commit([created(before, ['U01'])]);
			await reserve('new', 'C01', BEGIN + 4);
			await subject.store.ledger.commit([rename]);
			expect(await reserve('old', 'C02', BEGIN + 6)).toBe(true);
			expect(await reserve('new', 'C02', BEGIN + 100 * MINUTE)).toBe(false);
			const [stored] = await subject.store.directory.conversations(['C01']);
			expect(stored).toEqual(rename.conversation);
		});

		test('a reservation for a rename that never happened can be found', async () => {
			await subject.store.ledger.commit([created(conversation('C01', { name: 'old' }), ['U01'])]);
			await reserve('new', 'C01', BEGIN);
			expect(await reserve('new', 'C02', BEGIN + MINUTE)).toBe(false);
			expect(await subject.store.directory.abandonedName(TEAM, 'new', BEGIN)).toBe('C01');
		});
	});

	describe('conversations', () => {
		test('a conversation is read as it was written', async () => {
			const group = conversation('G01', {
				kind: 'mpim',
				name: '',
				people: ['U01', 'U02', 'U03'],
				topic: { value: 'Ebb “&” flow 🌊', creator: 'U02', lastSet: 1_700_000_000 },
			});
			await subject.store.ledger.commit([created(group, group.people)]);
			expect(await subject.store.directory.conversations(['G01', 'C99'])).toEqual([
				{ ...group, memberCount: 3 },
			]);
			const archive = changed({ ...group, memberCount: 3 }, 'archive', BEGIN + 9, { archived: true });
			await subject.store.ledger.commit([archive]);
			expect(await subject.store.directory.conversations(['G01'])).toEqual([archive.conversation]);
		});

		test('more ids than fit in one query', async () => {
			const ids = Array.from({ length: 9001 }, (_, index) => `C${String(index).padStart(6, '0')}`);
			await subject.store.ledger.commit(ids.map((id) => created(conversation(id), ['U01'])));
			expect((await subject.store.directory.conversations(ids)).map(({ id }) => id)).toEqual(ids);
			expect((await subject.store.source.briefs(ids)).length).toBe(ids.length);
			expect((await subject.store.source.user('U01')).memberships.map((one) => one.conversation)).toEqual(
				ids,
			);
		});

		const KINDS: readonly ConversationKind[] = ['public', 'private', 'im', 'mpim'];
		const ask = { team: TEAM, user: 'U01', memberOnly: false, kinds: KINDS, excludeArchived: false };

		async function listed(query: Partial<typeof ask> & { viewer?: string }, limit = 2): Promise<string[]> {
			const pages = await allPages(limit, (after) =>
				subject.store.directory.conversationsOf({ ...ask, ...query }, after, limit),
			);
			return pages.map(({ id }) => id);
		}

		test('of another user’s conversations, a user sees public and shared ones, in full pages', async () => {
			await subject.store.ledger.commit([
				created(conversation('C01'), ['U02']),
				created(conversation('C02', { kind: 'private' }), ['U02']),
				created(conversation('C03', { kind: 'private' }), ['U01', 'U02']),
				created(conversation('C04', { kind: 'private' }), ['U02', 'U03']),
				created(conversation('C05'), ['U01']),
				created(conversation('D01', { kind: 'im', name: '', people: ['U02', 'U03'] }), ['U02', 'U03']),
				created(conversation('D02', { kind: 'im', name: '', people: ['U01', 'U02'] }), ['U01', 'U02']),
			]);
			const of = { user: 'U02', memberOnly: true };
			expect(await listed({ ...of, viewer: 'U01' }, 1)).toEqual(['C01', 'C03', 'D02']);
			expect(await listed({ ...of, viewer: 'U02' })).toEqual(['C01', 'C02', 'C03', 'C04', 'D01', 'D02']);
			await subject.store.ledger.commit([left(conversation('C03', { kind: 'private' }), 'U01', BEGIN + 1)]);
			expect(await listed({ ...of, viewer: 'U01' })).toEqual(['C01', 'D02']);
		});

		test('a user sees public channels and their own conversations, in pages', async () => {
			const hidden = conversation('C03', { kind: 'private' });
			await subject.store.ledger.commit([
				created(conversation('C01'), ['U02']),
				created(conversation('C02', { kind: 'private' }), ['U01', 'U02']),
				created(hidden, ['U02']),
				created(conversation('C04', { archived: true }), ['U01']),
				created(conversation('C05', { team: 'T02' }), []),
				created(conversation('C06'), ['U01']),
				created(conversation('D01', { kind: 'im', name: '', people: ['U01', 'U02'] }), ['U01', 'U02']),
				created(conversation('D02', { kind: 'im', name: '', people: ['U02', 'U03'] }), ['U02', 'U03']),
			]);
			expect(await listed({})).toEqual(['C01', 'C02', 'C04', 'C06', 'D01']);
			expect(await listed({}, 5)).toEqual(['C01', 'C02', 'C04', 'C06', 'D01']);
			expect(await listed({ memberOnly: true })).toEqual(['C02', 'C04', 'C06', 'D01']);
			expect(await listed({ excludeArchived: true })).toEqual(['C01', 'C02', 'C06', 'D01']);
			expect(await listed({ kinds: ['private', 'im'] })).toEqual(['C02', 'D01']);
			expect(await listed({ kinds: ['public'] }, 1)).toEqual(['C01', 'C04', 'C06']);
			expect(await listed({ kinds: [] })).toEqual([]);
			await subject.store.ledger.commit([left(conversation('C06'), 'U01', BEGIN + 1)]);
			expect(await listed({ memberOnly: true })).toEqual(['C02', 'C04', 'D01']);
		});

		test('members are listed in pages, without users who left', async () => {
			const channel = conversation('C01');
			const people = ['U01', 'U02', 'U03', 'U04', 'U05'];
			await subject.store.ledger.commit([created(channel, people), left(channel, 'U03', BEGIN + 1, 4)]);
			const { directory } = subject.store;
			const members = await allPages(2, (after) => directory.members('C01', after, 2));
			expect(members).toEqual(['U01', 'U02', 'U04', 'U05']);
			expect((await directory.conversations(['C01']))[0]?.memberCount).toBe(4);
			expect(await directory.members('C99', null, 2)).toEqual({ items: [], next: null });
		});

		test('readers are members whose cursor or ahead set includes the message, without its author', async () => {
			const channel = conversation('C01');
			const ts = BEGIN + 10;
			const { directory, ledger } = subject.store;
			await ledger.commit([
				created(channel, ['U01', 'U02', 'U03', 'U04', 'U05', 'U06']),
				posted(channel, message('C01', ts, { user: 'U01' })),
				cursor('U01', 'C01', ts, ts),
				cursor('U02', 'C01', ts, ts + 1),
				cursor('U03', 'C01', ts - 1, ts + 2),
				cursor('U04', 'C01', ts - 1, ts + 3, { ahead: { add: [ts] } }),
				cursor('U05', 'C01', ts + 5, ts + 4),
				cursor('U06', 'C01', ts + 5, ts + 5),
				left(channel, 'U06', ts + 6, 5),
			]);
			const readers = await allPages(2, (after) => directory.readers('C01', ts, after, 2));
			expect(readers).toEqual(['U02', 'U04', 'U05']);
		});

		test('ten thousand users join at once', async () => {
			const channel = conversation('C01');
			const crowd = Array.from({ length: 10_000 }, (_, index) => `U${String(index).padStart(6, '0')}`);
			await subject.store.ledger.commit([created(channel, ['U01'])]);
			await subject.store.ledger.commit([joined(channel, crowd, BEGIN + 5, BEGIN + 3, 10_001)]);
			const { directory, source } = subject.store;
			expect((await directory.conversations(['C01']))[0]?.memberCount).toBe(10_001);
			expect((await directory.members('C01', null, 20_000)).items).toHaveLength(10_001);
			const memberships = await source.memberships('C01', crowd);
			expect(memberships.size).toBe(10_000);
			expect(memberships.get('U009999')).toEqual({ member: true, joinedTs: BEGIN + 5 });
		});
	});
}
