/** What signing people out needs, and a secret for each workspace. */
export const accounts: readonly string[] = [
	// Made on first use. Ids of direct messages and cursors are derived from it; it moves with the workspace.
	`ALTER TABLE workspaces ADD COLUMN secret TEXT NOT NULL DEFAULT ''`,

	// A token that was issued at or before this moment is no longer accepted.
	'ALTER TABLE users ADD COLUMN signed_out_ts BIGINT NOT NULL DEFAULT 0',

	// Null: it does not expire.
	'ALTER TABLE tokens ADD COLUMN expires_ts BIGINT',
	'CREATE INDEX tokens_by_user ON tokens (user_id, hash)',
];
