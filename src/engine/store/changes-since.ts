/**
 * SQL of what changed in conversations of a user since a stamp: members get events from their join on. The parameters are
 * $1 user, $2 conversations, $3 since, $4 up to, $5 limit.
 */

/** The stamp after which member `b` receives events of the conversation: the later of the join and $3. */
export const EVENTS_AFTER = '(CASE WHEN b.joined_ts > $3 THEN b.joined_ts ELSE $3 END)';

/** Condition on the changed row `m`. */
export const IS_CHANGED_SINCE = `m.changed_ts > ${EVENTS_AFTER} AND m.changed_ts <= $4`;

/** Selects rows `m` of a table; `joins` may add further tables. */
export const inside = (columns: string, table: string, condition: string, joins = ''): string =>
	`SELECT ${columns} FROM EACH_TEXT($2) AS wanted CROSS JOIN members b CROSS JOIN ${table} m ${joins}
	WHERE b.user_id = $1 AND b.conversation = wanted.item AND b.member = 1
		AND m.conversation = b.conversation AND ${condition} LIMIT $5`;

/** Joins the undeleted message `p` that the row is about. */
export const JOIN_MESSAGE = 'CROSS JOIN messages p';
export const IS_ITS_MESSAGE = 'p.conversation = m.conversation AND p.ts = m.ts AND p.deleted = 0';
