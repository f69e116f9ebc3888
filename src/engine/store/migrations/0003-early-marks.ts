/**
 * In a cluster, marks and the commands that create memberships and follows reach the store through two topics. A mark can
 * arrive before its join: the row then names the join it belongs to, and keeps the mark when the join arrives. The ahead set
 * is a list in the same row, so that the newest mark wins as a whole.
 */
export const earlyMarks: readonly string[] = [
	'ALTER TABLE members ADD COLUMN early_joined BIGINT NOT NULL DEFAULT 0',
	`ALTER TABLE members ADD COLUMN ahead TEXT NOT NULL DEFAULT '[]'`,
	'ALTER TABLE thread_follows ADD COLUMN early_since BIGINT NOT NULL DEFAULT 0',
];
