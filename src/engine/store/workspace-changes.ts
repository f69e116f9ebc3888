import type { WorkspaceChanges } from '../ports/workspace-changes.ts';
import { USER_COLUMNS, type UserRow, userOf } from './accounts.ts';
import { CONVERSATION_COLUMNS, type ConversationRow, conversationOf } from './rows.ts';
import type { SqlReader } from './sql.ts';

const AFTER = (stamp: string): string => `(${stamp} > $2 OR (${stamp} = $2 AND id > $3))`;

const USERS = `SELECT ${USER_COLUMNS}, created_ts FROM users
	WHERE team = $1 AND updated_ts >= $2 AND ${AFTER('updated_ts')} ORDER BY updated_ts, id LIMIT $4`;
const CHANNELS = `SELECT ${CONVERSATION_COLUMNS} FROM conversations
	WHERE team = $1 AND kind = 'public' AND created_ts >= $2 AND ${AFTER('created_ts')} ORDER BY created_ts, id LIMIT $4`;

interface ChangedUserRow extends UserRow {
	readonly created_ts: number;
}

export const workspaceChangesOn = (reader: SqlReader): WorkspaceChanges => ({
	users: async (team, [at, id], limit) =>
		(await reader.all<ChangedUserRow>(USERS, [team, at, id, limit])).map((row) => ({
			user: userOf(row),
			isNew: row.created_ts === row.updated_ts,
		})),
	channels: async (team, [at, id], limit) =>
		(await reader.all<ConversationRow>(CHANNELS, [team, at, id, limit])).map(conversationOf),
});
