import { expect, test } from 'bun:test';
import type { MemberChange } from '../engine/ports/changes.ts';
import { formatTs } from '../model/ts.ts';
import { EventReader, type EventReaderParts } from './event-reader.ts';

const CHANNEL = 'C1';
const SUBSCRIBER = { app: 'A1', bot: 'UBOT', names: new Map([['member_joined_channel', 0]]) };

/** A channel that many users joined, 1,500 of them with one stamp. */
const JOINS: readonly MemberChange[] = Array.from({ length: 4_000 }, (_, index) => ({
	user: `U${index}`,
	joined: true,
	at: index < 800 ? 100 + index : index < 2_300 ? 1_000 : 2_000 + index,
}));
const NEWEST = 10_000;

const parts = {
	changes: {
		memberChanges: async (_: string, since: number, upTo: number, limit: number) =>
			JOINS.filter(({ at }) => at > since && at <= upTo).slice(0, limit),
		inside: async () => ({ posted: [], changed: [], aspects: [], reactions: [], pins: [] }),
	},
	directory: { conversations: async () => [{ id: CHANNEL, team: 'T1', kind: 'public', name: 'harbour' }] },
	history: { messages: async () => [], threads: async () => [] },
	source: {
		briefs: async (ids: readonly string[]) => ids.map((id) => ({ id, stamp: NEWEST })),
		memberships: async () => new Map([[SUBSCRIBER.bot, { member: true, joinedTs: 1 }]]),
	},
} as unknown as EventReaderParts;

test('every user who joined gives one event, however many joined at once', async () => {
	const reader = new EventReader(parts);
	const users: unknown[] = [];
	for (let since = 0, reads = 0; since < NEWEST; reads += 1) {
		expect(reads).toBeLessThan(20);
		const found = await reader.read(SUBSCRIBER, CHANNEL, since);
		if (!found) throw new Error('the bot is a member');
		expect(found.upTo).toBeGreaterThan(since);
		users.push(...found.events.map(({ event }) => event.user));
		since = found.upTo;
	}
	expect(users.toSorted()).toEqual(JOINS.map(({ user }) => user).toSorted());
});

test('only conversations that changed are read again', async () => {
	const reader = new EventReader(parts);
	const readUpTo = new Map([
		['C1', NEWEST],
		['C2', NEWEST - 1],
	]);
	expect(await reader.changedAmong(['C1', 'C2', 'C3'], (id) => readUpTo.get(id) ?? 0)).toEqual(['C2', 'C3']);
});

test('of the deleted files of a message, only those deleted since the bot joined give events', async () => {
	const joinedTs = 1_700_000_000_000_000;
	const tombstone = (id: string, at: number) => ({ id, mode: 'tombstone', deleted_ts: formatTs(at) });
	const message = {
		conversation: CHANNEL,
		ts: joinedTs - 1_000,
		user: 'U1',
		text: 'edited',
		threadTs: null,
		named: [],
		editedTs: joinedTs + 2_000,
		changedTs: joinedTs + 2_000,
		deleted: false,
		extra: JSON.stringify({ files: [tombstone('F1', joinedTs - 500), tombstone('F2', joinedTs + 1_000)] }),
	};
	const reader = new EventReader({
		...parts,
		changes: {
			...parts.changes,
			inside: async () => ({ posted: [], changed: [message], aspects: [], reactions: [], pins: [] }),
		},
		source: {
			briefs: async () => [{ id: CHANNEL, stamp: message.changedTs }],
			memberships: async () => new Map([[SUBSCRIBER.bot, { member: true, joinedTs }]]),
		},
	} as unknown as EventReaderParts);
	const found = await reader.read({ ...SUBSCRIBER, names: new Map([['file_deleted', 0]]) }, CHANNEL, 0);
	expect(found?.events.map(({ event }) => event.file_id)).toEqual(['F2']);
});
