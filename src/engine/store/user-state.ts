import type { NotificationLevel } from '../ports/facts.ts';
import type { UserReadState } from '../ports/store.ts';
import type { Row, SqlReader } from './sql.ts';

/** Everything that the counts of one user depend on, read in one snapshot. */

const MEMBERSHIPS = `SELECT conversation, member, joined_ts, cursor, revision, muted, level, changed_ts,
	preferred_ts, ahead, early_joined FROM members WHERE user_id = $1 ORDER BY conversation`;
const AHEAD = 'SELECT conversation, ts FROM read_ahead WHERE user_id = $1 ORDER BY conversation, ts';
/** Without follows from before the current membership: leaving ended them, but their rows are still active. */
const FOLLOWS = `SELECT f.conversation, f.thread_ts, f.cursor, f.since, f.changed_ts FROM thread_follows f
	CROSS JOIN members m
	WHERE f.user_id = $1 AND f.active = 1 AND m.user_id = f.user_id AND m.conversation = f.conversation
		AND m.member = 1 AND f.since >= m.joined_ts
	ORDER BY f.conversation, f.thread_ts`;
const ACTIVITY = 'SELECT at, active FROM activity WHERE user_id = $1 ORDER BY at';
/** Including ended follows. */
const NEWEST_FOLLOW =
	'SELECT COALESCE(max(changed_ts), 0) AS changed_ts FROM thread_follows WHERE user_id = $1';

interface MemberColumns {
	readonly conversation: string;
	readonly member: number;
	readonly joined_ts: number;
	readonly cursor: number;
	readonly revision: number;
	readonly muted: number;
	readonly level: NotificationLevel;
	readonly changed_ts: number;
	readonly preferred_ts: number;
	/** The ahead set, in a cluster. The embedded engine stores it in rows of its own. */
	readonly ahead: string;
	readonly early_joined: number;
}
interface AheadColumns {
	readonly conversation: string;
	readonly ts: number;
}
interface FollowColumns {
	readonly conversation: string;
	readonly thread_ts: number;
	readonly cursor: number;
	readonly since: number;
	readonly changed_ts: number;
}
interface ActivityColumns {
	readonly at: number;
	readonly active: number;
}

export async function userReadState(reader: SqlReader, user: string): Promise<UserReadState> {
	const queries = [MEMBERSHIPS, AHEAD, FOLLOWS, ACTIVITY, NEWEST_FOLLOW];
	const results = await reader.together(queries.map((sql) => ({ sql, params: [user] })));
	const [members, ahead, follows, activity, newestFollow] = results as [Row[], Row[], Row[], Row[], Row[]];

	let stamp = newestFollow[0]?.changed_ts as number;
	const readAhead = [...(ahead as unknown as AheadColumns[])];
	const memberships = (members as unknown as MemberColumns[]).map((row) => {
		if (row.ahead !== '[]')
			for (const ts of JSON.parse(row.ahead) as number[])
				readAhead.push({ conversation: row.conversation, ts });
		if (row.changed_ts > stamp) stamp = row.changed_ts;
		if (row.preferred_ts > stamp) stamp = row.preferred_ts;
		return {
			conversation: row.conversation,
			member: row.member === 1,
			joinedTs: row.joined_ts,
			cursor: row.cursor,
			revision: row.revision,
			muted: row.muted === 1,
			level: row.level,
			changedTs: Math.max(row.changed_ts, row.preferred_ts),
			preferredTs: row.preferred_ts,
			...(row.early_joined > row.joined_ts ? { awaitedJoin: row.early_joined } : {}),
		};
	});
	const changes = (activity as unknown as ActivityColumns[]).map(({ at, active }) => ({
		at,
		active: active === 1,
	}));
	return {
		memberships,
		ahead: readAhead,
		follows: (follows as unknown as FollowColumns[]).map((row) => ({
			conversation: row.conversation,
			threadTs: row.thread_ts,
			cursor: row.cursor,
			since: row.since,
			changedTs: row.changed_ts,
		})),
		activity: changes,
		stamp: Math.max(stamp, changes.at(-1)?.at ?? 0),
	};
}
