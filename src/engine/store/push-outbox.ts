import type {
	DeadNotification,
	Lease,
	NotificationKey,
	NotificationResult,
	OutboxEntry,
	PushOutbox,
	UserNotification,
} from '../ports/push.ts';
import { candidatesOf } from './push-candidates.ts';
import { DEVICE_COLUMNS, type DeviceRow, deviceOf } from './push-devices.ts';
import { isReadAhead } from './rows.ts';
import { flag, list, type Param, type SqlReader } from './sql.ts';
import {
	type BoundWrite,
	deleteFrom,
	erasing,
	insertInto,
	statement,
	update,
	type WriteSql,
} from './write-sql.ts';

/**
 * SQL of the outbox and of notifications (table push_sends). Taking work postpones it to the end of the lease and tags its
 * rows with the lease's id, then reads the rows with that id: two processes that take work at once get different rows.
 */

const TAKE_MESSAGES = statement(
	'push_outbox',
	`UPDATE push_outbox SET lease = $1, next_at = $3 WHERE (conversation, ts) IN (
	SELECT conversation, ts FROM push_outbox WHERE next_at <= $2 AND (after_user = '' OR $5 = 1)
	ORDER BY next_at, ts LIMIT $4 SKIP_LOCKED)`,
);
const TAKEN_MESSAGES = `SELECT conversation, ts, because, round, after_user FROM push_outbox WHERE lease = $1 AND lease <> ''
	ORDER BY ts`;
const ANY_MESSAGE = 'SELECT 1 AS found FROM push_outbox WHERE next_at <= $1 LIMIT 1';
/** Moves the message behind those already waiting, so that one to many members does not delay the others. */
const ADVANCE = update(
	'push_outbox',
	{ after_user: 4, next_at: 5, lease: "''" },
	{ conversation: 1, ts: 2, round: 3 },
);
const FINISH = deleteFrom('push_outbox', { conversation: 1, ts: 2, round: 3 });
const SHOWN_ON = `SELECT device FROM push_sends WHERE device IN (SELECT item FROM EACH_TEXT($3) AS wanted)
	AND conversation = $1 AND ts = $2 AND state <> 'dead'`;

const ADD_NOTIFICATION = insertInto(
	'push_sends',
	{
		device: 1,
		conversation: 2,
		ts: 3,
		user_id: 4,
		state: "'pending'",
		attempts: '0',
		next_at: 5,
		lease: "''",
		error: "''",
	},
	'ignore',
);
const TAKE_NOTIFICATIONS = statement(
	'push_sends',
	`UPDATE push_sends SET lease = $1, next_at = $3, attempts = attempts + 1 WHERE (device, conversation, ts) IN (
	SELECT device, conversation, ts FROM push_sends WHERE state = 'pending' AND next_at <= $2
	ORDER BY next_at LIMIT $4 SKIP_LOCKED)`,
);
const ANY_NOTIFICATION = `SELECT 1 AS found FROM push_sends WHERE state = 'pending' AND next_at <= $1 LIMIT 1`;
const DUE_NOTIFICATIONS = `SELECT COUNT(*) AS due FROM (
	SELECT 1 FROM push_sends WHERE state = 'pending' AND next_at <= $1 LIMIT $2) AS counted`;
const AHEAD = `(SELECT COUNT(*) FROM members m
	WHERE m.user_id = s.user_id AND m.conversation = s.conversation AND ${isReadAhead('m', 's.ts')}) AS ahead`;
const TAKEN_NOTIFICATIONS = `SELECT s.device, s.conversation, s.ts, s.user_id AS receiver, s.attempts, ${AHEAD}, u.snoozed_until_ts, ${DEVICE_COLUMNS}
	FROM push_sends s LEFT JOIN push_devices d ON d.id = s.device LEFT JOIN users u ON u.id = s.user_id
	WHERE s.lease = $1 AND s.lease <> ''`;
const ONE = { device: 1, conversation: 2, ts: 3 };
const SENT = update('push_sends', { state: "'sent'", lease: "''", error: "''" }, ONE);
const AGAIN = update('push_sends', { attempts: 4, next_at: 5, error: 6, lease: "''" }, ONE);
const DEAD = update('push_sends', { state: "'dead'", attempts: 4, error: 5, lease: "''" }, ONE);
const DROP = deleteFrom('push_sends', ONE);
const UPDATE_BADGE = update('push_devices', { badge: 2 }, { id: 1 });
const DROP_DEVICE = erasing(deleteFrom('push_devices', { id: 1 }));
const DROP_NOTIFICATIONS = deleteFrom('push_sends', { device: 1 });

const TAKE_READS = statement(
	'push_reads',
	`UPDATE push_reads SET lease = $1, next_at = $3 WHERE user_id IN (
	SELECT user_id FROM push_reads WHERE marks > handled AND next_at <= $2
	ORDER BY next_at LIMIT $4 SKIP_LOCKED)`,
);
const ANY_READ = 'SELECT 1 AS found FROM push_reads WHERE marks > handled AND next_at <= $1 LIMIT 1';
const TAKEN_READS = `SELECT user_id, marks FROM push_reads WHERE lease = $1 AND lease <> ''`;
const QUEUE_CHECK = update('push_reads', { marks: 'marks + 1' }, { user_id: 1 });
const ADD_READER = insertInto(
	'push_reads',
	{ user_id: 1, marks: '0', handled: '0', next_at: '0', lease: "''" },
	'ignore',
);
const PUT_OFF = update('push_reads', { next_at: 2, lease: "''" }, { user_id: 1 });
const HANDLED = update(
	'push_reads',
	{ handled: 2, next_at: 3, lease: "''" },
	{ user_id: 1, marks: ['>=', 2] },
);
const SHOWN = `SELECT s.device, s.conversation, s.ts, ${AHEAD} FROM push_sends s
	WHERE s.user_id = $1 AND s.state = 'sent' ORDER BY s.conversation, s.ts, s.device`;
const UPDATE_BADGES = update('push_devices', { badge: 2 }, { user_id: 1 });

const SIZES = `SELECT (SELECT COUNT(*) FROM push_devices) AS devices,
	(SELECT COUNT(*) FROM push_sends WHERE state = 'pending') AS pending,
	(SELECT COUNT(*) FROM push_sends WHERE state = 'dead') AS dead`;
const DEAD_ONES = `SELECT device, conversation, ts, user_id, attempts, error FROM push_sends
	WHERE state = 'dead' ORDER BY ts DESC LIMIT $1`;
const COUNT_DEAD = `SELECT COUNT(*) AS dead FROM push_sends WHERE state = 'dead'`;
const REPLAY = update('push_sends', { state: "'pending'", attempts: '0', next_at: 1 }, { state: "= 'dead'" });

const RELEASE: readonly WriteSql[] = ['push_outbox', 'push_sends', 'push_reads'].map((table) =>
	update(table, { lease: "''", next_at: 1 }, { lease: "<> ''" }),
);
const TIDY_NOTIFICATIONS = deleteFrom('push_sends', { state: "= 'sent'", ts: ['<', 1] });
const TIDY_READS = deleteFrom('push_reads', { handled: '>= marks', next_at: ['<', 1] });

interface NotificationRow {
	readonly device: string;
	readonly conversation: string;
	readonly ts: number;
}

interface TakenColumns {
	readonly receiver: string;
	readonly attempts: number;
	readonly ahead: number;
	readonly snoozed_until_ts: number | null;
}

export function outboxOn(
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): PushOutbox {
	/** Checks without a transaction first: taking needs one. */
	async function take<T>(
		any: string,
		tag: WriteSql,
		taken: string,
		lease: Lease,
		...more: Param[]
	): Promise<T[]> {
		if ((await reader.all(any, [lease.now])).length === 0) return [];
		await execute([{ write: tag, params: [lease.id, lease.now, lease.until, lease.limit, ...more] }]);
		return reader.all<T>(taken, [lease.id]);
	}
	return {
		takeMessages: async (lease, includeBegun) =>
			(
				await take<Omit<OutboxEntry, 'after'> & { after_user: string }>(
					ANY_MESSAGE,
					TAKE_MESSAGES,
					TAKEN_MESSAGES,
					lease,
					flag(includeBegun),
				)
			).map(({ after_user, ...entry }) => ({ ...entry, after: after_user })),
		candidates: (message, source, after, limit) => candidatesOf(reader, message, source, after, limit),
		shownOn: async ({ conversation, ts }, devices) => {
			const rows = await reader.all<{ device: string }>(SHOWN_ON, [conversation, ts, list(devices)]);
			return new Set(rows.map(({ device }) => device));
		},
		advance: ({ conversation, ts, round }, { notifications, recheck, next, now }) =>
			execute([
				...notifications.map((one) => ({
					write: ADD_NOTIFICATION,
					params: [...keyOf(one), one.user, one.nextAt],
				})),
				...recheck.flatMap(checkOf),
				next === null
					? { write: FINISH, params: [conversation, ts, round] }
					: { write: ADVANCE, params: [conversation, ts, round, next, now] },
			]),
		takeNotifications: async (lease) =>
			(
				await take<NotificationRow & Partial<DeviceRow> & TakenColumns>(
					ANY_NOTIFICATION,
					TAKE_NOTIFICATIONS,
					TAKEN_NOTIFICATIONS,
					lease,
				)
			).map((row) => ({
				device: row.device,
				conversation: row.conversation,
				ts: row.ts,
				user: row.receiver,
				attempts: row.attempts,
				ahead: row.ahead > 0,
				snoozedUntilTs: row.snoozed_until_ts ?? 0,
				to: row.token == null ? null : deviceOf(row as DeviceRow),
			})),
		dueNotifications: async (now, atMost) => {
			const [row] = await reader.all<{ due: number }>(DUE_NOTIFICATIONS, [now, atMost]);
			return row?.due ?? 0;
		},
		recordResult: (notification, result) => execute(recordingResult(notification, result)),
		takeReads: async (lease) =>
			(await take<{ user_id: string; marks: number }>(ANY_READ, TAKE_READS, TAKEN_READS, lease)).map(
				({ user_id, marks }) => ({ user: user_id, marks }),
			),
		queueCheck: (user) => execute(checkOf(user)),
		shown: async (user) =>
			(await reader.all<NotificationRow & { ahead: number }>(SHOWN, [user])).map((row) => ({
				...row,
				ahead: row.ahead > 0,
			})),
		withdrawn: ({ user, marks }, { notifications, badge, nextAt }) =>
			execute([
				...notifications.map((one) => ({ write: DROP, params: keyOf(one) })),
				...(badge === null ? [] : [{ write: UPDATE_BADGES, params: [user, badge] }]),
				{ write: HANDLED, params: [user, marks, nextAt] },
			]),
		postpone: ({ user }, nextAt) => execute([{ write: PUT_OFF, params: [user, nextAt] }]),
		sizes: async () => {
			const [row] = await reader.all<{ devices: number; pending: number; dead: number }>(SIZES, []);
			return row ?? { devices: 0, pending: 0, dead: 0 };
		},
		dead: async (limit) =>
			(
				await reader.all<NotificationRow & { user_id: string; attempts: number; error: string }>(DEAD_ONES, [
					limit,
				])
			).map(({ user_id, ...row }): DeadNotification => ({ ...row, user: user_id })),
		replay: async (now) => {
			const [row] = await reader.all<{ dead: number }>(COUNT_DEAD, []);
			await execute([{ write: REPLAY, params: [now] }]);
			return row?.dead ?? 0;
		},
		releaseAll: (now) => execute(RELEASE.map((write) => ({ write, params: [now] }))),
		tidy: (beforeTs, handledBefore) =>
			execute([
				{ write: TIDY_NOTIFICATIONS, params: [beforeTs] },
				{ write: TIDY_READS, params: [handledBefore] },
			]),
	};
}

const keyOf = ({ device, conversation, ts }: NotificationKey): Param[] => [device, conversation, ts];

const checkOf = (user: string): BoundWrite[] => [
	{ write: ADD_READER, params: [user] },
	{ write: QUEUE_CHECK, params: [user] },
];

function recordingResult(notification: UserNotification, result: NotificationResult): BoundWrite[] {
	const key = keyOf(notification);
	switch (result.type) {
		case 'sent':
			return [
				{ write: SENT, params: key },
				{ write: UPDATE_BADGE, params: [notification.device, result.badge] },
				{ write: QUEUE_CHECK, params: [notification.user] },
			];
		case 'dropped':
			return [{ write: DROP, params: key }];
		case 'again':
			return [{ write: AGAIN, params: [...key, result.attempts, result.nextAt, result.error] }];
		case 'dead':
			return [{ write: DEAD, params: [...key, result.attempts, result.error] }];
		case 'gone':
			return [
				{ write: DROP_DEVICE, params: [notification.device] },
				{ write: DROP_NOTIFICATIONS, params: [notification.device] },
			];
	}
}
