/**
 * What may mention somebody, for counting what lies further back than a read state keeps. A post that mentions nobody
 * does not touch it.
 */
export const mentions: readonly string[] = [
	`CREATE INDEX messages_that_mention ON messages (conversation, ts)
		WHERE (named IS NOT NULL OR channel_wide = 1 OR here = 1)`,
];
