/** What users say of themselves, until when they are not to be disturbed, and finding them by their address. */
export const profiles: readonly string[] = [
	// JSON: fields of Slack's profile, as far as they were set.
	`ALTER TABLE users ADD COLUMN profile TEXT NOT NULL DEFAULT '{}'`,
	'ALTER TABLE users ADD COLUMN snoozed_until_ts BIGINT NOT NULL DEFAULT 0',
	`CREATE INDEX users_by_email ON users (team, lower(email)) WHERE email <> ''`,
];
