/** Profiles of users, snoozing, and an index of email addresses. */
export const profiles: readonly string[] = [
	// JSON: fields of Slack's profile that were set.
	`ALTER TABLE users ADD COLUMN profile TEXT NOT NULL DEFAULT '{}'`,
	'ALTER TABLE users ADD COLUMN snoozed_until_ts BIGINT NOT NULL DEFAULT 0',
	`CREATE INDEX users_by_email ON users (team, lower(email)) WHERE email <> ''`,
];
