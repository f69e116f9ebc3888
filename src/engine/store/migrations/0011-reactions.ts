/**
 * Reactions to messages: a small row per user and emoji, so that reacting never rewrites a message, and a total per emoji and
 * message, so that a page never reads all rows. A removed reaction stays as an inactive row, which informs devices that were
 * offline; both are removed with their message.
 */
export const reactions: readonly string[] = [
	`CREATE TABLE reactions (
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		name TEXT NOT NULL,
		user_id TEXT NOT NULL,
		active SMALLINT NOT NULL,
		changed_ts BIGINT NOT NULL,
		PRIMARY KEY (conversation, ts, name, user_id)
	) CLUSTERED`,
	'CREATE INDEX reactions_by_change ON reactions (conversation, changed_ts)',
	'CREATE INDEX reactions_of_user ON reactions (user_id, changed_ts) WHERE active = 1',

	// users: JSON array of the first users.
	`CREATE TABLE reaction_totals (
		conversation TEXT NOT NULL,
		ts BIGINT NOT NULL,
		name TEXT NOT NULL,
		user_count INTEGER NOT NULL,
		users TEXT NOT NULL,
		first_ts BIGINT NOT NULL,
		PRIMARY KEY (conversation, ts, name)
	) CLUSTERED`,
];
