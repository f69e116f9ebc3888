/** Invite links, and a device name for tokens. */
export const invites: readonly string[] = [
	`CREATE TABLE invites (
		hash TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		-- Empty: the person chooses a name, and the user is created when the link is used.
		user_id TEXT NOT NULL,
		created_ts BIGINT NOT NULL,
		expires_ts BIGINT NOT NULL,
		revoked_ts BIGINT,
		used_ts BIGINT,
		-- Hash of the token that the link was exchanged for; empty until then.
		claim TEXT NOT NULL DEFAULT ''
	) CLUSTERED`,
	'CREATE INDEX invites_by_team ON invites (team, hash)',
	`ALTER TABLE tokens ADD COLUMN device TEXT NOT NULL DEFAULT ''`,
];
