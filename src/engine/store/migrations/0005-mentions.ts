/**
 * An index of messages that may mention somebody, to count mentions older than the entries in memory. A post without mentions
 * does not touch it.
 */
export const mentions: readonly string[] = [
	`CREATE INDEX messages_that_mention ON messages (conversation, ts)
		WHERE (named IS NOT NULL OR channel_wide = 1 OR here = 1)`,
];
