/** For events of a workspace: when a user was created, and indexes of users by change and of public channels by creation. */
export const workspaceEvents: readonly string[] = [
	// 0: the user was created before this column was added.
	'ALTER TABLE users ADD COLUMN created_ts BIGINT NOT NULL DEFAULT 0',
	'CREATE INDEX users_by_change ON users (team, updated_ts, id)',
	`CREATE INDEX public_conversations_by_creation ON conversations (team, created_ts, id) WHERE kind = 'public'`,
];
