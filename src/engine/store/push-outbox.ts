import type { DeadSend, Lease, OutboxEntry, PushOutbox, SendKey, SendOf, SendResult } from '../ports/push.ts';
import { candidatesOf } from './push-audience.ts';
import { DEVICE_COLUMNS, type DeviceRow, deviceOf } from './push-devices.ts';
import { flag, list, type Param, type SqlReader, type Statement } from './sql.ts';

/**
 * The outbox and what was sent. To take work is to put it off until the lease ends, under the lease's own name, and then
 * to read what has that name: two who take at once get different rows.
 */

const TAKE_MESSAGES = `UPDATE push_outbox SET lease = $1, next_at = $3 WHERE (conversation, ts) IN (
	SELECT conversation, ts FROM push_outbox WHERE next_at <= $2 AND (after_user = '' OR $5 = 1)
	ORDER BY next_at, ts LIMIT $4 SKIP_LOCKED)`;
const TAKEN_MESSAGES = `SELECT conversation, ts, because, round, after_user FROM push_outbox WHERE lease = $1 AND lease <> ''
	ORDER BY ts`;
const ANY_MESSAGE = 'SELECT 1 AS found FROM push_outbox WHERE next_at <= $1 LIMIT 1';
/** Put behind what is waiting already: many that are long take turns with many that are short. */
const ADVANCE = `UPDATE push_outbox SET after_user = $4, next_at = $5, lease = ''
	WHERE conversation = $1 AND ts = $2 AND round = $3`;
const FINISH = 'DELETE FROM push_outbox WHERE conversation = $1 AND ts = $2 AND round = $3';
const SHOWN_ON = `SELECT device FROM push_sends WHERE device IN (SELECT item FROM EACH_TEXT($3) AS wanted)
	AND conversation = $1 AND ts = $2 AND state <> 'dead'`;

const ADD_SEND = `INSERT INTO push_sends (device, conversation, ts, user_id, state, attempts, next_at, lease, error)
	VALUES ($1, $2, $3, $4, 'pending', 0, $5, '', '') ON CONFLICT (device, conversation, ts) DO NOTHING`;
const TAKE_SENDS = `UPDATE push_sends SET lease = $1, next_at = $3, attempts = attempts + 1 WHERE (device, conversation, ts) IN (
	SELECT device, conversation, ts FROM push_sends WHERE state = 'pending' AND next_at <= $2
	ORDER BY next_at LIMIT $4 SKIP_LOCKED)`;
const ANY_SEND = `SELECT 1 AS found FROM push_sends WHERE state = 'pending' AND next_at <= $1 LIMIT 1`;
const DUE_SENDS = `SELECT COUNT(*) AS due FROM (
	SELECT 1 FROM push_sends WHERE state = 'pending' AND next_at <= $1 LIMIT $2) AS counted`;
const AHEAD = `(SELECT COUNT(*) FROM read_ahead a
	WHERE a.user_id = s.user_id AND a.conversation = s.conversation AND a.ts = s.ts) AS ahead`;
const TAKEN_SENDS = `SELECT s.device, s.conversation, s.ts, s.user_id AS receiver, s.attempts, ${AHEAD}, ${DEVICE_COLUMNS}
	FROM push_sends s LEFT JOIN push_devices d ON d.id = s.device WHERE s.lease = $1 AND s.lease <> ''`;
const ONE = 'WHERE device = $1 AND conversation = $2 AND ts = $3';
const SENT = `UPDATE push_sends SET state = 'sent', lease = '', error = '' ${ONE}`;
const AGAIN = `UPDATE push_sends SET attempts = $4, next_at = $5, error = $6, lease = '' ${ONE}`;
const DEAD = `UPDATE push_sends SET state = 'dead', attempts = $4, error = $5, lease = '' ${ONE}`;
const DROP = `DELETE FROM push_sends ${ONE}`;
const TELL_BADGE = 'UPDATE push_devices SET badge = $2 WHERE id = $1';
const DROP_DEVICE = 'DELETE FROM push_devices WHERE id = $1';
const DROP_SENDS = 'DELETE FROM push_sends WHERE device = $1';

const TAKE_READS = `UPDATE push_reads SET lease = $1, next_at = $3 WHERE user_id IN (
	SELECT user_id FROM push_reads WHERE marks > handled AND next_at <= $2
	ORDER BY next_at LIMIT $4 SKIP_LOCKED)`;
const ANY_READ = 'SELECT 1 AS found FROM push_reads WHERE marks > handled AND next_at <= $1 LIMIT 1';
const TAKEN_READS = `SELECT user_id, marks FROM push_reads WHERE lease = $1 AND lease <> ''`;
const NOTE_READ = 'UPDATE push_reads SET marks = marks + 1 WHERE user_id = $1';
const ADD_READ = `INSERT INTO push_reads (user_id, marks, handled, next_at, lease) VALUES ($1, 0, 0, 0, '')
	ON CONFLICT (user_id) DO NOTHING`;
const PUT_OFF = `UPDATE push_reads SET next_at = $2, lease = '' WHERE user_id = $1`;
const HANDLED = `UPDATE push_reads SET handled = $2, next_at = $3, lease = '' WHERE user_id = $1 AND marks >= $2`;
const SHOWN = `SELECT s.device, s.conversation, s.ts, ${AHEAD} FROM push_sends s
	WHERE s.user_id = $1 AND s.state = 'sent' ORDER BY s.conversation, s.ts, s.device`;
const TELL_BADGES = 'UPDATE push_devices SET badge = $2 WHERE user_id = $1';

const SIZES = `SELECT (SELECT COUNT(*) FROM push_devices) AS devices,
	(SELECT COUNT(*) FROM push_sends WHERE state = 'pending') AS pending,
	(SELECT COUNT(*) FROM push_sends WHERE state = 'dead') AS dead`;
const DEAD_ONES = `SELECT device, conversation, ts, user_id, attempts, error FROM push_sends
	WHERE state = 'dead' ORDER BY ts DESC LIMIT $1`;
const COUNT_DEAD = `SELECT COUNT(*) AS dead FROM push_sends WHERE state = 'dead'`;
const REPLAY = `UPDATE push_sends SET state = 'pending', attempts = 0, next_at = $1 WHERE state = 'dead'`;

const RELEASE: readonly string[] = ['push_outbox', 'push_sends', 'push_reads'].map(
	(table) => `UPDATE ${table} SET lease = '', next_at = $1 WHERE lease <> ''`,
);
const TIDY_SENDS = `DELETE FROM push_sends WHERE state = 'sent' AND ts < $1`;
const TIDY_READS = 'DELETE FROM push_reads WHERE handled >= marks AND next_at < $1';

interface SendRow {
	readonly device: string;
	readonly conversation: string;
	readonly ts: number;
}

export function outboxOn(
	reader: SqlReader,
	execute: (statements: readonly Statement[]) => Promise<void>,
): PushOutbox {
	/** A look costs no transaction; taking does. */
	async function take<T>(
		any: string,
		mark: string,
		taken: string,
		lease: Lease,
		...more: Param[]
	): Promise<T[]> {
		if ((await reader.all(any, [lease.now])).length === 0) return [];
		await execute([{ sql: mark, params: [lease.id, lease.now, lease.until, lease.limit, ...more] }]);
		return reader.all<T>(taken, [lease.id]);
	}
	return {
		takeMessages: async (lease, begun) =>
			(
				await take<Omit<OutboxEntry, 'after'> & { after_user: string }>(
					ANY_MESSAGE,
					TAKE_MESSAGES,
					TAKEN_MESSAGES,
					lease,
					flag(begun),
				)
			).map(({ after_user, ...entry }) => ({ ...entry, after: after_user })),
		candidates: (message, audience, after, limit) => candidatesOf(reader, message, audience, after, limit),
		shownOn: async ({ conversation, ts }, devices) => {
			const rows = await reader.all<{ device: string }>(SHOWN_ON, [conversation, ts, list(devices)]);
			return new Set(rows.map(({ device }) => device));
		},
		advance: ({ conversation, ts, round }, { sends, looks, next, now }) =>
			execute([
				...sends.map((send) => ({
					sql: ADD_SEND,
					params: [send.device, send.conversation, send.ts, send.user, send.nextAt],
				})),
				...looks.flatMap(noting),
				next === null
					? { sql: FINISH, params: [conversation, ts, round] }
					: { sql: ADVANCE, params: [conversation, ts, round, next, now] },
			]),
		takeSends: async (lease) =>
			(
				await take<SendRow & Partial<DeviceRow> & { receiver: string; attempts: number; ahead: number }>(
					ANY_SEND,
					TAKE_SENDS,
					TAKEN_SENDS,
					lease,
				)
			).map((row) => ({
				device: row.device,
				conversation: row.conversation,
				ts: row.ts,
				user: row.receiver,
				attempts: row.attempts,
				ahead: row.ahead > 0,
				to: row.token == null ? null : deviceOf(row as DeviceRow),
			})),
		dueSends: async (now, atMost) => {
			const [row] = await reader.all<{ due: number }>(DUE_SENDS, [now, atMost]);
			return row?.due ?? 0;
		},
		settle: (send, result) => execute(settling(send, result)),
		takeReads: async (lease) =>
			(await take<{ user_id: string; marks: number }>(ANY_READ, TAKE_READS, TAKEN_READS, lease)).map(
				({ user_id, marks }) => ({ user: user_id, marks }),
			),
		noteRead: (user) => execute(noting(user)),
		shown: async (user) =>
			(await reader.all<SendRow & { ahead: number }>(SHOWN, [user])).map((row) => ({
				...row,
				ahead: row.ahead > 0,
			})),
		withdrawn: ({ user, marks }, { sends, badge, nextAt }) =>
			execute([
				...sends.map((send) => ({ sql: DROP, params: keyOf(send) })),
				...(badge === null ? [] : [{ sql: TELL_BADGES, params: [user, badge] }]),
				{ sql: HANDLED, params: [user, marks, nextAt] },
			]),
		putOff: ({ user }, nextAt) => execute([{ sql: PUT_OFF, params: [user, nextAt] }]),
		sizes: async () => {
			const [row] = await reader.all<{ devices: number; pending: number; dead: number }>(SIZES, []);
			return row ?? { devices: 0, pending: 0, dead: 0 };
		},
		dead: async (limit) =>
			(
				await reader.all<SendRow & { user_id: string; attempts: number; error: string }>(DEAD_ONES, [limit])
			).map(({ user_id, ...row }): DeadSend => ({ ...row, user: user_id })),
		replay: async (now) => {
			const [row] = await reader.all<{ dead: number }>(COUNT_DEAD, []);
			await execute([{ sql: REPLAY, params: [now] }]);
			return row?.dead ?? 0;
		},
		releaseAll: (now) => execute(RELEASE.map((sql) => ({ sql, params: [now] }))),
		tidy: (beforeTs, handledBefore) =>
			execute([
				{ sql: TIDY_SENDS, params: [beforeTs] },
				{ sql: TIDY_READS, params: [handledBefore] },
			]),
	};
}

const keyOf = ({ device, conversation, ts }: SendKey): Param[] => [device, conversation, ts];

const noting = (user: string): Statement[] => [
	{ sql: ADD_READ, params: [user] },
	{ sql: NOTE_READ, params: [user] },
];

function settling(send: SendOf, result: SendResult): Statement[] {
	const key = keyOf(send);
	switch (result.type) {
		case 'sent':
			return [
				{ sql: SENT, params: key },
				{ sql: TELL_BADGE, params: [send.device, result.badge] },
				{ sql: NOTE_READ, params: [send.user] },
			];
		case 'dropped':
			return [{ sql: DROP, params: key }];
		case 'again':
			return [{ sql: AGAIN, params: [...key, result.attempts, result.nextAt, result.error] }];
		case 'dead':
			return [{ sql: DEAD, params: [...key, result.attempts, result.error] }];
		case 'gone':
			return [
				{ sql: DROP_DEVICE, params: [send.device] },
				{ sql: DROP_SENDS, params: [send.device] },
			];
	}
}
