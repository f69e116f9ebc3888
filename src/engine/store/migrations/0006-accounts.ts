/** Columns for signing users out, and a secret per workspace. */
export const accounts: readonly string[] = [
	// Created on first use. Ids of direct messages and page cursors are derived from it; it moves with the workspace.
	`ALTER TABLE workspaces ADD COLUMN secret TEXT NOT NULL DEFAULT ''`,

	// JWTs issued at or before this time are rejected.
	'ALTER TABLE users ADD COLUMN signed_out_ts BIGINT NOT NULL DEFAULT 0',

	// Null: it does not expire.
	'ALTER TABLE tokens ADD COLUMN expires_ts BIGINT',
	'CREATE INDEX tokens_by_user ON tokens (user_id, hash)',
];
