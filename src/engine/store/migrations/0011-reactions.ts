/**
 * Reactions to messages: one small row for each user and emoji, so that reacting never rewrites a message, and one for each emoji
 * on a message with how many there are, so that showing a page never reads them all. A reaction that was taken back stays as an inactive
 * row, by which devices that were offline learn of it; both go when their message is deleted.
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

	// users: JSON, the first of them.
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
