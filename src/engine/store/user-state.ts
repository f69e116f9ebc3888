import type { NotificationLevel } from '../ports/facts.ts';
import type { UserReadState } from '../ports/store.ts';
import { inChunks, list, type Row, type SqlReader } from './sql.ts';

/** Everything that the counts of a user depend on: in all conversations, or in one of them. */

const membershipsOf = (condition: string): string => `SELECT user_id, conversation, member, joined_ts, cursor,
	revision, muted, level, changed_ts, preferred_ts, ahead, early_joined FROM members
	WHERE ${condition} ORDER BY conversation`;
const aheadOf = (condition: string): string =>
	`SELECT user_id, conversation, ts FROM read_ahead WHERE ${condition} ORDER BY conversation, ts`;
/** Without follows from before the current membership: leaving ended them, but their rows are still active. */
const followsOf = (
	condition: string,
): string => `SELECT f.user_id, f.conversation, f.thread_ts, f.cursor, f.since,
	f.changed_ts FROM thread_follows f CROSS JOIN members m
	WHERE ${condition} AND f.active = 1 AND m.user_id = f.user_id AND m.conversation = f.conversation
		AND m.member = 1 AND f.since >= m.joined_ts
	ORDER BY f.conversation, f.thread_ts`;
const IN_ONE_CONVERSATION = 'conversation = $1 AND user_id IN (SELECT item FROM EACH_TEXT($2) AS wanted)';
const FOLLOWS_IN_ONE = 'f.conversation = $1 AND f.user_id IN (SELECT item FROM EACH_TEXT($2) AS wanted)';
const MEMBERSHIPS = membershipsOf('user_id = $1');
const AHEAD = aheadOf('user_id = $1');
const FOLLOWS = followsOf('f.user_id = $1');
const IN_CONVERSATION = [
	membershipsOf(IN_ONE_CONVERSATION),
	aheadOf(IN_ONE_CONVERSATION),
	followsOf(FOLLOWS_IN_ONE),
] as const;
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
	/** The ahead set, in a cluster. The embedded engine stores it in the table `read_ahead`. */
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
	const changes = (activity as unknown as ActivityColumns[]).map(({ at, active }) => ({
		at,
		active: active === 1,
	}));
	return stateOf(members, ahead, follows, changes, newestFollow[0]?.changed_ts as number);
}

/** The states of these users in one conversation, without their activity. */
export async function userStatesIn(
	reader: SqlReader,
	conversation: string,
	users: readonly string[],
): Promise<ReadonlyMap<string, UserReadState>> {
	const found = await inChunks(reader, users, async (chunk) => {
		const params = [conversation, list(chunk)];
		const results = await reader.together(IN_CONVERSATION.map((sql) => ({ sql, params })));
		const [members, ahead, follows] = (results as [Row[], Row[], Row[]]).map((rows) =>
			Map.groupBy(rows, ({ user_id }) => user_id as string),
		);
		return [...(members ?? [])].map(([user, rows]): [string, UserReadState] => [
			user,
			stateOf(rows, ahead?.get(user) ?? [], follows?.get(user) ?? [], [], 0),
		]);
	});
	return new Map(found);
}

function stateOf(
	members: readonly Row[],
	ahead: readonly Row[],
	follows: readonly Row[],
	activity: UserReadState['activity'],
	newest: number,
): UserReadState {
	let stamp = newest;
	const readAhead = (ahead as unknown as AheadColumns[]).map(({ conversation, ts }) => ({
		conversation,
		ts,
	}));
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
		activity,
		stamp,
	};
}
