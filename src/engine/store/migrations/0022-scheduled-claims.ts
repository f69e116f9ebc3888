/** The gateway that is posting a scheduled message, and until when (wall-clock ms) no other gateway may. */
export const scheduledClaims: readonly string[] = [
	`ALTER TABLE scheduled_messages ADD COLUMN claimed_by TEXT NOT NULL DEFAULT ''`,
	'ALTER TABLE scheduled_messages ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0',
];
