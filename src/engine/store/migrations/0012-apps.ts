/** Apps: their configuration, how far each has received its events, and state of their interactions. */
export const apps: readonly string[] = [
	`CREATE TABLE apps (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		bot_user TEXT NOT NULL,
		signing_secret TEXT NOT NULL,
		manifest TEXT NOT NULL,
		created_ts BIGINT NOT NULL,
		updated_ts BIGINT NOT NULL,
		events_since_ts BIGINT NOT NULL,
		lease TEXT NOT NULL,
		lease_until BIGINT NOT NULL,
		paused_at BIGINT NOT NULL,
		failing_since_at BIGINT NOT NULL,
		last_error TEXT NOT NULL,
		given_up BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX apps_by_team ON apps (team, id)',
	'CREATE UNIQUE INDEX apps_by_bot ON apps (bot_user)',

	`CREATE TABLE app_tokens (
		hash TEXT NOT NULL PRIMARY KEY,
		app TEXT NOT NULL,
		team TEXT NOT NULL,
		name TEXT NOT NULL,
		created_ts BIGINT NOT NULL,
		revoked_ts BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX app_tokens_of_app ON app_tokens (app)',

	// The stamp up to which the app has received the events of a stream. `conversation` is the stream: a conversation, a user, or
	// `created:C…`. No row: the app has received no event of the stream.
	`CREATE TABLE app_cursors (
		app TEXT NOT NULL,
		conversation TEXT NOT NULL,
		cursor BIGINT NOT NULL,
		PRIMARY KEY (app, conversation)
	) CLUSTERED`,

	// Socket Mode connections at all gateways; a row that was not renewed in time is stale.
	`CREATE TABLE app_sockets (
		id TEXT NOT NULL PRIMARY KEY,
		app TEXT NOT NULL,
		gateway TEXT NOT NULL,
		until_at BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX app_sockets_of_app ON app_sockets (app)',

	`CREATE TABLE app_webhooks (
		id TEXT NOT NULL PRIMARY KEY,
		app TEXT NOT NULL,
		team TEXT NOT NULL,
		conversation TEXT NOT NULL,
		hash TEXT NOT NULL,
		created_ts BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX app_webhooks_of_app ON app_webhooks (app)',

	// How often a response_url or trigger_id was used.
	`CREATE TABLE app_uses (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		uses INTEGER NOT NULL,
		until_at BIGINT NOT NULL
	) CLUSTERED`,

	`CREATE TABLE app_views (
		id TEXT NOT NULL PRIMARY KEY,
		app TEXT NOT NULL,
		team TEXT NOT NULL,
		user_id TEXT NOT NULL,
		kind TEXT NOT NULL,
		hash TEXT NOT NULL,
		body TEXT NOT NULL,
		below TEXT NOT NULL,
		updated_ts BIGINT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX app_views_of_app ON app_views (app)',

	// Users who joined or left a conversation since a stamp: two indexes that cursors do not touch.
	'ALTER TABLE members ADD COLUMN left_ts BIGINT NOT NULL DEFAULT 0',
	'CREATE INDEX members_by_join ON members (conversation, joined_ts) WHERE member = 1',
	'CREATE INDEX members_by_leaving ON members (conversation, left_ts) WHERE left_ts > 0',
];
