/** Scheduled messages. A row is removed when its message is posted, cancelled, or cannot be posted. */
export const scheduled: readonly string[] = [
	// content: JSON of the message.
	`CREATE TABLE scheduled_messages (
		id TEXT NOT NULL PRIMARY KEY,
		team TEXT NOT NULL,
		user_id TEXT NOT NULL,
		conversation TEXT NOT NULL,
		post_at BIGINT NOT NULL,
		created_ts BIGINT NOT NULL,
		content TEXT NOT NULL
	) CLUSTERED`,
	'CREATE INDEX scheduled_messages_due ON scheduled_messages (post_at, id)',
	'CREATE INDEX scheduled_messages_of_user ON scheduled_messages (user_id, post_at, id)',
];
