/** The first schema. Times are in microseconds, booleans 0 and 1, lists, topics and purposes JSON. */
export const initial: readonly string[] = [
	`CREATE TABLE workspaces (
		id TEXT NOT NULL PRIMARY KEY,
		name TEXT NOT NULL,
		domain TEXT NOT NULL,
		created_ts BIGINT NOT NULL
	) CLUSTERED`,

	`CREATE TABLE users (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		name TEXT NOT NULL,
		real_name TEXT NOT NULL,
		email TEXT NOT NULL,
		is_bot SMALLINT NOT NULL,
		deleted SMALLINT NOT NULL,
		updated_ts BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE UNIQUE INDEX users_by_name ON users (team, name)',
	'CREATE INDEX users_by_team ON users (team, id)',

	`CREATE TABLE tokens (
		hash TEXT NOT NULL PRIMARY KEY,
		user_id TEXT NOT NULL,
		team TEXT NOT NULL,
		created_ts BIGINT NOT NULL,
		revoked_ts BIGINT
	) CLUSTERED`,

	`CREATE TABLE channel_names (
		team TEXT NOT NULL,
		name TEXT NOT NULL,
		conversation TEXT NOT NULL,
		reserved_at BIGINT NOT NULL,
		PRIMARY KEY (team, name)
	) CLUSTERED`,

	// stamp: of the newest change that is not a message; messages have their own.
	`CREATE TABLE conversations (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		kind TEXT NOT NULL,
		name TEXT NOT NULL,
		creator TEXT NOT NULL,
		created_ts BIGINT NOT NULL,
		archived SMALLINT NOT NULL,
		topic TEXT NOT NULL,
		purpose TEXT NOT NULL,
		previous_names TEXT NOT NULL,
		member_count INTEGER NOT NULL,
		people TEXT NOT NULL,
		changed_ts BIGINT NOT NULL,
		stamp BIGINT NOT NULL
	) CLUSTERED`,
	`CREATE INDEX public_conversations ON conversations (team, id) WHERE kind = 'public'`,

	// Membership and cursor in one row. It stays when the user leaves: rejoining continues from its revision.
	`CREATE TABLE members (
		user_id TEXT NOT NULL,
		conversation TEXT NOT NULL,
		member SMALLINT NOT NULL,
		joined_ts BIGINT NOT NULL,
		cursor BIGINT NOT NULL,
		revision BIGINT NOT NULL,
		muted SMALLINT NOT NULL,
		level TEXT NOT NULL,
		changed_ts BIGINT NOT NULL,
		PRIMARY KEY (user_id, conversation)
	) CLUSTERED`,
	'CREATE INDEX members_of_conversation ON members (conversation, user_id) WHERE member = 1',

	`CREATE TABLE read_ahead (
		user_id TEXT NOT NULL,
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		PRIMARY KEY (user_id, conversation, ts)
	) CLUSTERED`,

	// Not clustered: rows are appended, and only small index entries are sorted.
	`CREATE TABLE messages (
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		text TEXT NOT NULL,
		thread_ts BIGINT,
		broadcast SMALLINT NOT NULL,
		client_msg_id TEXT,
		named TEXT,
		channel_wide SMALLINT NOT NULL,
		here SMALLINT NOT NULL,
		edited_ts BIGINT,
		changed_ts BIGINT NOT NULL,
		deleted SMALLINT NOT NULL,
		extra TEXT
	)`,
	'CREATE UNIQUE INDEX messages_by_ts ON messages (conversation, ts)',
	// Includes user and deleted, so that a thread can be summarised from the index alone.
	`CREATE INDEX messages_by_thread ON messages (conversation, thread_ts, ts, user_id, deleted)
		WHERE thread_ts IS NOT NULL`,
	`CREATE INDEX messages_by_send ON messages (conversation, user_id, client_msg_id, ts)
		WHERE client_msg_id IS NOT NULL`,
	'CREATE INDEX messages_by_change ON messages (conversation, changed_ts) WHERE changed_ts > ts',

	`CREATE TABLE thread_follows (
		conversation TEXT NOT NULL,
		thread_ts BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		active SMALLINT NOT NULL,
		cursor BIGINT NOT NULL,
		since BIGINT NOT NULL,
		changed_ts BIGINT NOT NULL,
		PRIMARY KEY (conversation, thread_ts, user_id)
	) CLUSTERED`,
	'CREATE INDEX follows_of_user ON thread_follows (user_id)',

	`CREATE TABLE activity (
		user_id TEXT NOT NULL,
		at BIGINT NOT NULL,
		active SMALLINT NOT NULL,
		PRIMARY KEY (user_id, at)
	) CLUSTERED`,

	'CREATE TABLE starts (at BIGINT NOT NULL PRIMARY KEY) CLUSTERED',

	'CREATE TABLE progress (id SMALLINT NOT NULL PRIMARY KEY CHECK (id = 1), newest_stamp BIGINT NOT NULL)',
	'INSERT INTO progress (id, newest_stamp) VALUES (1, 0)',
];

/** docs/postgres.md explains these settings. */
export const initialOnPostgres: readonly string[] = [
	// The default, a fifth of the rows, is too late for tables with millions of rows.
	`ALTER TABLE messages SET (autovacuum_vacuum_scale_factor = 0.02,
		autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`,

	// Free space in every page for the next version of a row whose cursor or stamp moves, so that no index is updated.
	'ALTER TABLE members SET (fillfactor = 80)',
	'ALTER TABLE thread_follows SET (fillfactor = 80)',
	'ALTER TABLE conversations SET (fillfactor = 80)',

	// The next offset of each partition of the log.
	`CREATE TABLE partition_progress (
		partition TEXT COLLATE "C" NOT NULL PRIMARY KEY,
		next_offset BIGINT NOT NULL
	) WITH (fillfactor = 20)`,
];
