/** Events that apps subscribed to after they had been created: JSON, the stamp of the subscription by the event's name. */
export const addedEvents: readonly string[] = [
	`ALTER TABLE apps ADD COLUMN added_events TEXT NOT NULL DEFAULT '{}'`,
];
