/**
 * Pinned messages. One that was taken down stays as an inactive row, by which devices that were offline learn of it; it goes when its
 * message is deleted.
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
