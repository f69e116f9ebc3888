/**
 * In a cluster, marks and the commands that make memberships and follows come to the store over two topics. A mark
 * may be here before its join is: then the row tells which join it belongs to, and keeps what was marked when that comes.
 */
export const earlyMarks: readonly string[] = [
	'ALTER TABLE members ADD COLUMN early_joined BIGINT NOT NULL DEFAULT 0',
	'ALTER TABLE thread_follows ADD COLUMN early_since BIGINT NOT NULL DEFAULT 0',
];
