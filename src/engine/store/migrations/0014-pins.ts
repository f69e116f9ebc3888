/**
 * Pinned messages. A removed pin stays as an inactive row, which informs devices that were offline; it is removed with its
 * message.
 */
export const pins: readonly string[] = [
	`CREATE TABLE pins (
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		active SMALLINT NOT NULL,
		changed_ts BIGINT NOT NULL,
		PRIMARY KEY (conversation, ts)
	) CLUSTERED`,
	'CREATE INDEX pins_by_change ON pins (conversation, changed_ts)',
	'CREATE INDEX pins_active ON pins (conversation, ts) WHERE active = 1',
];
