/** Push notifications. A server without push writes only devices. */
export const push: readonly string[] = [
	// id: identifies the token while it belongs to this user; push_sends refers to it. The sender drops rows of push_sends whose device
	// no longer exists, because the device was removed or its token belongs to another user.
	`CREATE TABLE push_devices (
		platform TEXT NOT NULL,
		token TEXT NOT NULL,
		id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		app TEXT NOT NULL,
		badge INTEGER NOT NULL,
		added_ts BIGINT NOT NULL,
		PRIMARY KEY (platform, token)
	) CLUSTERED`,
	'CREATE UNIQUE INDEX push_devices_by_id ON push_devices (id)',
	'CREATE INDEX push_devices_by_user ON push_devices (user_id)',

	// One row per message that may concern somebody, until all members are processed; after_user is the progress.
	// because: posted or changed. A change during processing starts the next round.
	`CREATE TABLE push_outbox (
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		because TEXT NOT NULL,
		round INTEGER NOT NULL,
		after_user TEXT NOT NULL,
		next_at BIGINT NOT NULL,
		lease TEXT NOT NULL,
		PRIMARY KEY (conversation, ts)
	) CLUSTERED`,
	'CREATE INDEX push_outbox_due ON push_outbox (next_at)',
	`CREATE INDEX push_outbox_leased ON push_outbox (lease) WHERE lease <> ''`,

	// One row per device and message, so that there are no duplicates. state: pending, sent, dead.
	`CREATE TABLE push_sends (
		device TEXT NOT NULL,
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		state TEXT NOT NULL,
		attempts INTEGER NOT NULL,
		next_at BIGINT NOT NULL,
		lease TEXT NOT NULL,
		error TEXT NOT NULL,
		PRIMARY KEY (device, conversation, ts)
	) CLUSTERED`,
	`CREATE INDEX push_sends_due ON push_sends (next_at) WHERE state = 'pending'`,
	`CREATE INDEX push_sends_leased ON push_sends (lease) WHERE lease <> ''`,
	`CREATE INDEX push_sends_shown ON push_sends (user_id) WHERE state = 'sent'`,
	`CREATE INDEX push_sends_dead ON push_sends (ts) WHERE state = 'dead'`,

	// Users who read something; written with the mark, so that outdated notifications are withdrawn even after a crash.
	`CREATE TABLE push_reads (
		user_id TEXT NOT NULL PRIMARY KEY,
		marks BIGINT NOT NULL,
		handled BIGINT NOT NULL,
		next_at BIGINT NOT NULL,
		lease TEXT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX push_reads_due ON push_reads (next_at) WHERE marks > handled',
	`CREATE INDEX push_reads_leased ON push_reads (lease) WHERE lease <> ''`,
];
