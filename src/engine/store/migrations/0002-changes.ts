/** Stamps of changes that rows did not record yet. A post writes none of them. */
export const changes: readonly string[] = [
	// Stamp of muting and of the notification level; changed_ts is for membership and cursor.
	'ALTER TABLE members ADD COLUMN preferred_ts BIGINT NOT NULL DEFAULT 0',

	// The newest change of each aspect of a conversation (archive, rename, topic, purpose), and its actor.
	`CREATE TABLE conversation_changes (
		conversation TEXT NOT NULL,
		aspect TEXT NOT NULL,
		changed_ts BIGINT NOT NULL,
		actor TEXT NOT NULL,
		PRIMARY KEY (conversation, aspect)
	) CLUSTERED`,
];
