/** The gateway that is posting a scheduled message, and until when (wall-clock ms) no other gateway may. */
export const scheduledLeases: readonly string[] = [
	`ALTER TABLE scheduled_messages ADD COLUMN lease TEXT NOT NULL DEFAULT ''`,
	'ALTER TABLE scheduled_messages ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0',
];
