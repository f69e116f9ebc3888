import type { Scheduled, ScheduledContent, ScheduledMessage } from '../ports/scheduled.ts';
import { leasesOf } from './leases.ts';
import type { SqlReader } from './sql.ts';
import { type BoundWrite, deleteFrom, erasing, insertInto } from './write-sql.ts';

const ADD = insertInto(
	'scheduled_messages',
	{ id: 1, team: 2, user_id: 3, conversation: 4, post_at: 5, created_ts: 6, content: 7 },
	'ignore',
);
const REMOVE = erasing(deleteFrom('scheduled_messages', { id: 1 }));
/** For a user who was deactivated. */
const REMOVE_OF_USER = erasing(deleteFrom('scheduled_messages', { user_id: 1 }));

export const deleteScheduledOf = (user: string): BoundWrite => ({ write: REMOVE_OF_USER, params: [user] });

const COLUMNS = 's.id, s.team, s.user_id, s.conversation, s.post_at, s.created_ts, s.content';
const ONE = `SELECT ${COLUMNS} FROM scheduled_messages s WHERE s.id = $1`;
const DUE = `SELECT ${COLUMNS} FROM scheduled_messages s WHERE s.post_at <= $1 ORDER BY s.post_at, s.id LIMIT $2`;
const OF_USER = `SELECT ${COLUMNS} FROM scheduled_messages s
	WHERE s.user_id = $1 AND ($2 = '' OR s.conversation = $2) AND s.post_at >= $3 AND s.post_at <= $4
		AND (s.post_at > $5 OR (s.post_at = $5 AND s.id > $6))
	ORDER BY s.post_at, s.id LIMIT $7`;

interface Columns {
	readonly id: string;
	readonly team: string;
	readonly user_id: string;
	readonly conversation: string;
	readonly post_at: number;
	readonly created_ts: number;
	readonly content: string;
}

const messageOf = (row: Columns): ScheduledMessage => ({
	id: row.id,
	team: row.team,
	user: row.user_id,
	conversation: row.conversation,
	postAt: row.post_at,
	createdTs: row.created_ts,
	content: JSON.parse(row.content) as ScheduledContent,
});

export const scheduledOn = (
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): Scheduled => {
	const leases = leasesOf('scheduled_messages', reader, execute);
	return {
		add: ({ id, team, user, conversation, postAt, createdTs, content }) =>
			execute([
				{
					write: ADD,
					params: [id, team, user, conversation, postAt, createdTs, JSON.stringify(content)],
				},
			]),
		async get(id) {
			const [row] = await reader.all<Columns>(ONE, [id]);
			return row ? messageOf(row) : null;
		},
		remove: (id) => execute([{ write: REMOVE, params: [id] }]),
		async lease(id, gateway, nowAt, untilAt) {
			const holder = await leases.take(id, gateway, nowAt, untilAt);
			if (holder === undefined) return 'gone';
			return holder === gateway ? 'leased' : 'held';
		},
		release: leases.release,
		async of(user, { conversation, oldest, latest, after, limit }) {
			const place = [after?.postAt ?? -1, after?.id ?? ''];
			const rows = await reader.all<Columns>(OF_USER, [
				user,
				conversation ?? '',
				oldest,
				latest,
				...place,
				limit,
			]);
			return rows.map(messageOf);
		},
		async due(nowSeconds, limit) {
			return (await reader.all<Columns>(DUE, [nowSeconds, limit])).map(messageOf);
		},
	};
};
