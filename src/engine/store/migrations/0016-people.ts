/** Preferences that users share across devices, last use of tokens, and labels of invites. */
export const people: readonly string[] = [
	`CREATE TABLE user_preferences (
		user_id TEXT NOT NULL,
		name TEXT NOT NULL,
		value TEXT NOT NULL,
		PRIMARY KEY (user_id, name)
	) CLUSTERED`,
	// 0: not used since this column was added.
	'ALTER TABLE tokens ADD COLUMN last_used_ts BIGINT NOT NULL DEFAULT 0',
	`ALTER TABLE invites ADD COLUMN label TEXT NOT NULL DEFAULT ''`,
	// The user who created it; empty: the administrator.
	`ALTER TABLE invites ADD COLUMN creator TEXT NOT NULL DEFAULT ''`,
];
