/**
 * Uploaded files, and the messages that contain them. `state` is a number of `FILE_STATES` in src/model/files.ts. The bytes of a
 * workspace are summed over an index, so a quota cannot drift.
 */
export const files: readonly string[] = [
	`CREATE TABLE files (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		user_id TEXT NOT NULL,
		name TEXT NOT NULL,
		title TEXT NOT NULL,
		mimetype TEXT NOT NULL,
		alt_text TEXT NOT NULL,
		snippet_type TEXT NOT NULL,
		size BIGINT NOT NULL,
		created_ts BIGINT NOT NULL,
		state SMALLINT NOT NULL,
		secret TEXT NOT NULL,
		object TEXT NOT NULL,
		channels TEXT NOT NULL,
		width INTEGER NOT NULL,
		height INTEGER NOT NULL
	) CLUSTERED`,
	'CREATE INDEX files_of_team ON files (team, created_ts, id) WHERE state = 2',
	'CREATE INDEX file_bytes_of_team ON files (team, size) WHERE state < 4',
	'CREATE INDEX files_unfinished ON files (user_id) WHERE state < 2',
	'CREATE INDEX files_to_tidy ON files (state, created_ts) WHERE state <> 2 AND state <> 4',
	`CREATE TABLE file_shares (
		file TEXT NOT NULL,
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		thread_ts BIGINT,
		PRIMARY KEY (file, conversation, ts)
	) CLUSTERED`,
	'CREATE INDEX file_shares_of_message ON file_shares (conversation, ts)',
];
