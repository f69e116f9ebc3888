import { expect, test } from 'bun:test';
import type { CountRow } from '../../src/engine/ports/read-state.ts';
import { Connection } from '../../src/gateway/socket/connection.ts';
import { CountsPush, SESSIONS_PER_TURN } from '../../src/gateway/socket/counts-push.ts';
import { UserSession } from '../../src/gateway/socket/user-session.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import { eventually } from '../support/eventually.ts';
import { TurnMeter } from '../support/turn-meter.ts';
import { readingSocket } from './support.ts';

/** Pushed counts are current: none go to users who left, and none before events that a client still has to catch up on. */

const ROW: CountRow = {
	conversation: 'C1',
	kind: 'public',
	latest: 1,
	lastRead: 1,
	revision: 0,
	muted: false,
	level: 'all',
	position: { conversation: 1, user: 1 },
	unread: 0,
	unreadDisplay: 0,
	mentions: 0,
	badge: 0,
	capped: false,
};

function scene({ archived = false } = {}) {
	const sent: string[] = [];
	const socket = readingSocket((frame) => sent.push(JSON.parse(frame).type));
	const connection = new Connection('s1', 'U1', 'T1', 'hash', true, socket, (one) =>
		queueMicrotask(() => one.flush()),
	);
	const conversations = new Set(['C1']);
	const isListening = (_session: UserSession, conversation: string) => conversations.has(conversation);
	const session = new UserSession('U1', [connection], { isListening });
	const readState = {
		row: async () => ROW,
		member: async () => ({ conversation: 'C1', archived }),
		threadTotals: async () => ({
			threads: { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } },
			position: 1,
		}),
	} as unknown as ReadState;
	const fail = (error: unknown) => {
		throw error;
	};
	const push = new CountsPush(readState, fail);
	const changed = async (): Promise<string[]> => {
		push.noteChange([session], { change: 'membership', conversation: 'C1' });
		await Bun.sleep(5);
		return sent;
	};
	return { connection, session, conversations, push, sent, changed };
}

test('a subscribed client gets new counts', async () => {
	const { connection, changed } = scene();
	connection.release(0);
	expect((await changed()).sort()).toEqual(['unread_counts_updated', 'update_thread_state']);
});

test('a client that is catching up gets new counts afterwards', async () => {
	const { connection, changed } = scene();
	connection.hold();
	await changed();
	connection.release(1);
	await Bun.sleep(5);
	expect((await changed()).sort()).toEqual(['unread_counts_updated', 'update_thread_state']);
});

test('a user who has left meanwhile gets no event of the conversation', async () => {
	const { connection, conversations, changed } = scene();
	connection.release(0);
	conversations.clear();
	expect((await changed()).sort()).toEqual(['update_thread_state']);
});

test('an archived conversation has no row to send', async () => {
	const { connection, changed } = scene({ archived: true });
	connection.release(0);
	expect(await changed()).toEqual(['update_thread_state']);
});

test('counts that a client missed while catching up are sent only to that client', async () => {
	const { connection, session, push, sent } = scene();
	const other = scene();
	connection.release(0);
	other.connection.release(0);
	session.connections.push(other.connection);
	push.caughtUp(session, connection, ['C1'], true);
	await Bun.sleep(5);
	expect(sent.sort()).toEqual(['unread_counts_updated', 'update_thread_state']);
	expect(other.sent).toEqual([]);
});

test('if a post is counted before its author’s cursor moves, only the author gets the row again', async () => {
	const about = (author: string) =>
		({
			change: 'posted',
			conversation: 'C1',
			ts: 1,
			author,
			threadTs: null,
			inTimeline: true,
			here: false,
		}) as const;
	const { connection, session, push, sent } = scene();
	connection.release(0);
	push.noteChange([session], about('U2'));
	await Bun.sleep(5);
	expect(sent).toEqual([]);
	push.noteChange([session], about('U1'));
	await Bun.sleep(5);
	expect(sent).toEqual(['unread_counts_updated']);
});

test('after a delete, counts for thousands of online users are computed a few per turn', async () => {
	const meter = new TurnMeter();
	const ONLINE = 20 * SESSIONS_PER_TURN;
	const asked = new Set<string>();
	const readState = {
		row: async (user: string) => {
			meter.add(1);
			asked.add(user);
			return ROW;
		},
		member: async () => ({ conversation: 'C1', archived: false }),
		threadTotals: async () => ({
			threads: { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } },
			position: 1,
		}),
	} as unknown as ReadState;
	const push = new CountsPush(readState, (error) => {
		throw error;
	});
	const sessions = Array.from({ length: ONLINE }, (_, index) => {
		const connection = { wantsCounts: true, isCatchingUp: false, send: () => undefined } as never;
		return new UserSession(`U${index}`, [connection], { isListening: () => true });
	});
	push.noteChange(sessions, { change: 'membership', conversation: 'C1' });
	// Counts that become due meanwhile are neither forgotten nor sent twice.
	push.noteChange(sessions.slice(0, 3), { change: 'membership', conversation: 'C1' });
	while (asked.size < ONLINE) await Bun.sleep(1);
	await Bun.sleep(1);
	meter.stop();
	expect(meter.total).toBe(ONLINE);
	expect(meter.largest).toBeLessThanOrEqual(SESSIONS_PER_TURN);
});

test('counts that could not be read are pushed when they can be', async () => {
	const { connection, session, sent } = scene();
	connection.release(0);
	let isDown = true;
	const failures: unknown[] = [];
	const looked = async <T>(value: T): Promise<T> => {
		if (isDown) throw new Error('could not be written');
		return value;
	};
	const readState = {
		row: () => looked(ROW),
		member: () => looked({ conversation: 'C1', archived: false }),
		threadTotals: () =>
			looked({
				threads: { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } },
				position: 1,
			}),
	} as unknown as ReadState;
	const push = new CountsPush(readState, (error) => void failures.push(error));
	push.noteChange([session], { change: 'membership', conversation: 'C1' });
	await Bun.sleep(5);
	expect(failures).toHaveLength(2);
	expect(sent).toEqual([]);
	isDown = false;
	await eventually(
		async () => expect([...sent].sort()).toEqual(['unread_counts_updated', 'update_thread_state']),
		10_000,
	);
});
