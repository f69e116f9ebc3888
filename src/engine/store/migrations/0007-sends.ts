/**
 * An index of sends by time: the sends of the last day are loaded at the first posts to a conversation. A post without a
 * client_msg_id does not touch it.
 */
export const sends: readonly string[] = [
	`CREATE INDEX messages_by_send_ts ON messages (conversation, ts, user_id, client_msg_id)
		WHERE client_msg_id IS NOT NULL`,
];
