/** What the rows could not tell yet of when they changed. Neither is written by a post. */
export const changes: readonly string[] = [
	// Of muting and the notification level; changed_ts is that of membership and cursor.
	'ALTER TABLE members ADD COLUMN preferred_ts BIGINT NOT NULL DEFAULT 0',

	// The newest change of each aspect of a conversation (archive, rename, topic, purpose), and whose it was.
	`CREATE TABLE conversation_changes (
		conversation TEXT NOT NULL,
		aspect TEXT NOT NULL,
		changed_ts BIGINT NOT NULL,
		actor TEXT NOT NULL,
		PRIMARY KEY (conversation, aspect)
	) CLUSTERED`,
];
