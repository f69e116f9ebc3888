/**
 * Which topic an offset is of: one that was deleted and created again has the same name and other entries. Null: not known yet. Only
 * PostgreSQL keeps offsets.
 */
export const topicIds: readonly string[] = [
	'ALTER TABLE partition_progress ADD COLUMN topic_id TEXT COLLATE "C"',
];
