import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { applyEvent } from '../../client/src/apply-event.ts';
import { CountsState } from '../../client/src/counts-state.ts';
import { mentionsOf } from '../../client/src/mentions.ts';
import { parseMentions } from '../../src/model/mentions.ts';
import { counts, row } from '../support/client/fake-server.ts';

/** Rules of counting that matter only in rare situations, which random histories reach too seldom. */

const ME = 'U1';
const stamp = (number: number): string => `17000000${String(number).padStart(8, '0')}`;
const ts = (number: number): string => `${stamp(number).slice(0, 10)}.${stamp(number).slice(10)}`;
const rowAt = (conversation: number, user: number, more: object = {}) =>
	row('C1', { position: stamp(conversation) + stamp(user), ...more });

function stage(rows = [rowAt(0, 0)]) {
	const state = new CountsState(() => undefined);
	const followUps: string[] = [];
	state.self = ME;
	state.reset(counts(rows), []);
	const apply = (event: object) =>
		applyEvent(state, event, {
			isCatchingUp: false,
			gap: () => followUps.push('gap'),
			conversation: (id) => followUps.push(id),
			membership: (id) => followUps.push(`membership of ${id}`),
			preview: () => undefined,
		});
	let last = '0000000000.000000';
	const post = (number: number, more: object = {}) => {
		const message = { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U2', text: 'hello' };
		apply({ ...message, ts: ts(number), prev_ts: last, position: stamp(number), ...more });
		last = ts(number);
	};
	const receiveRow = (event: object) => apply({ type: 'unread_counts_updated', channel: 'C1', ...event });
	return { apply, post, receiveRow, followUps, shown: () => state.conversations.get('C1'), state };
}

test('messages that arrived before an older row are counted on top of it', () => {
	const { post, receiveRow, shown, followUps } = stage();
	post(1);
	post(2);
	post(3);
	receiveRow(rowAt(1, 9, { latest: ts(1), last_read: ts(1) }));
	expect(shown()).toMatchObject({ unreadCount: 2, lastRead: ts(1), latest: ts(3) });
	expect(followUps).toEqual([]);
});

test('a row that is older than the known one is ignored', () => {
	const { receiveRow, shown } = stage();
	receiveRow(rowAt(5, 9, { unread_count: 4 }));
	receiveRow(rowAt(5, 8, { unread_count: 9 }));
	receiveRow(rowAt(4, 9, { unread_count: 9 }));
	expect(shown()?.unreadCount).toBe(4);
});

test('a message that the row includes, or that arrives twice, counts once', () => {
	const { post, receiveRow, shown } = stage();
	receiveRow(rowAt(1, 1, { unread_count: 1, latest: ts(1) }));
	post(1);
	post(2);
	post(2, { prev_ts: ts(1) });
	expect(shown()).toMatchObject({ unreadCount: 2, latest: ts(2) });
});

test('a row older than the kept messages is fetched again', () => {
	const { post, receiveRow, followUps, shown } = stage();
	for (let number = 1; number <= 600; number += 1) post(number);
	receiveRow(rowAt(50, 9, { unread_count: 0 }));
	expect(followUps).toEqual(['C1']);
	expect(shown()?.unreadCount).toBe(600);
	receiveRow(rowAt(150, 9, { unread_count: 0 }));
	expect(shown()?.unreadCount).toBe(450);
});

test('counts stop at 10,000 and are flagged as capped', () => {
	const full = {
		has_unreads: true,
		unread_count: 9_999,
		unread_count_display: 9_999,
		mention_count: 9_999,
		badge_count: 9_999,
	};
	const { post, shown } = stage([rowAt(0, 0, full)]);
	post(1, { text: '<!channel>' });
	expect(shown()).toMatchObject({ unreadCount: 10_000, mentionCount: 10_000, isCapped: false });
	post(2, { text: '<!channel>' });
	expect(shown()).toMatchObject({
		unreadCount: 10_000,
		mentionCount: 10_000,
		badgeCount: 10_000,
		isCapped: true,
	});
});

test('a user’s own message is never unread, and moves the cursor only if nothing is unread', () => {
	const { post, shown } = stage();
	post(1, { user: ME });
	expect(shown()).toMatchObject({ unreadCount: 0, lastRead: ts(1), hasUnreads: false });
	post(2);
	post(3, { user: ME });
	expect(shown()).toMatchObject({ unreadCount: 1, lastRead: ts(1), latest: ts(3) });
});

test('a missing previous message and a missing newest message are gaps', () => {
	const missing = stage();
	missing.post(1);
	missing.post(3, { prev_ts: ts(2) });
	expect(missing.followUps).toEqual(['gap']);
	const deleted = stage();
	deleted.post(1);
	deleted.post(2);
	deleted.post(3, { prev_ts: ts(1) });
	expect(deleted.followUps).toEqual(['gap']);
});

test('a deleted newest message is not a gap while the new latest is unknown', () => {
	const { post, apply, followUps } = stage();
	post(1);
	post(2);
	apply({
		type: 'message',
		subtype: 'message_deleted',
		channel: 'C1',
		deleted_ts: ts(2),
		position: stamp(3),
	});
	post(4, { prev_ts: ts(1) });
	expect(followUps).toEqual([]);
});

test('an archived conversation no longer counts; an unarchived one is fetched', () => {
	const { apply, receiveRow, shown, state, followUps } = stage([rowAt(0, 0, { badge_count: 3 })]);
	apply({ type: 'channel_archive', channel: 'C1', position: stamp(1) });
	receiveRow(rowAt(1, 9, { unread_count: 4 }));
	expect(shown()).toBeUndefined();
	expect(state.badge).toBe(0);
	apply({ type: 'channel_unarchive', channel: 'C1', position: stamp(2) });
	expect(followUps).toEqual(['C1']);
	apply({
		type: 'message',
		channel: 'C1',
		channel_type: 'channel',
		user: 'U2',
		text: '',
		ts: ts(3),
		prev_ts: ts(0),
		position: stamp(3),
	});
	receiveRow(rowAt(2, 9, { unread_count: 4 }));
	expect(shown()?.unreadCount).toBe(5);
});

test('after a rejoin, rows from before are older, and counts start at zero', () => {
	const { apply, receiveRow, shown, state } = stage([rowAt(0, 0, { unread_count: 5 })]);
	apply({ type: 'channel_left', channel: 'C1', position: stamp(1) });
	apply({
		type: 'channel_joined',
		channel: { ...row('C1'), position: undefined, name: 'quay' },
		position: stamp(2),
	});
	receiveRow(rowAt(0, 5, { unread_count: 5 }));
	expect(shown()).toMatchObject({ unreadCount: 0, name: 'quay' });
	expect(state.revision('C1')).toBeUndefined();
	receiveRow(rowAt(2, 6, { revision: 3 }));
	expect(state.revision('C1')).toBe(3);
});

test('the client finds the same mentions in a text as the server', () => {
	const piece = fc.constantFrom(
		'<@U1>',
		'<@U1|ada>',
		'<@U22>',
		'<!channel>',
		'<!everyone|x>',
		'<!here>',
		'`',
		'```',
		'\n',
		' ',
		'a',
		'<',
		'>',
		'|',
	);
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 14 }), fc.constantFrom('U1', 'U22', 'U11'), (pieces, user) => {
			const text = pieces.join('').replaceAll('U1', 'U11');
			const server = parseMentions(text);
			expect(mentionsOf(text, user)).toEqual({
				isNamed: server.users.includes(user),
				isChannelWide: server.channelWide,
			});
		}),
		{ numRuns: 3000 },
	);
});
