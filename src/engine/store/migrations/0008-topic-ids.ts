/**
 * The topic that an offset belongs to: a topic that was deleted and created again has the same name and different records. Null: not
 * known yet. Only PostgreSQL stores offsets.
 */
export const topicIds: readonly string[] = [
	'ALTER TABLE partition_progress ADD COLUMN topic_id TEXT COLLATE "C"',
];
