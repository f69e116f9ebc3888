import type { NotificationLevel } from '../ports/facts.ts';
import type { Candidate, CandidatePage, CandidateSource, MessageKey } from '../ports/push.ts';
import { isReadAhead } from './rows.ts';
import type { Param, SqlReader } from './sql.ts';

/**
 * Users with a device whom a message may concern, a few hundred members per page: a page costs the same
 * whatever the size of the conversation, and other work runs between pages.
 */

/** Limits the page before the join: `$3` and `$4` bound the work, not the number of results. */
const PAGES: Readonly<Record<CandidateSource['of'], string>> = {
	members: `SELECT user_id FROM members WHERE conversation = $1 AND member = 1 AND user_id > $3
		ORDER BY user_id LIMIT $4`,
	devices: 'SELECT DISTINCT user_id FROM push_devices WHERE user_id > $3 ORDER BY user_id LIMIT $4',
	followers: `SELECT user_id FROM thread_follows
		WHERE conversation = $1 AND thread_ts = $5 AND active = 1 AND user_id > $3 ORDER BY user_id LIMIT $4`,
};

const candidatesIn = (
	page: string,
): string => `SELECT p.user_id, d.id AS device, m.muted, m.level, u.snoozed_until_ts,
		CASE WHEN f.active = 1 THEN 1 ELSE 0 END AS follows,
		CASE WHEN m.cursor >= $2 THEN 1 WHEN f.active = 1 AND f.cursor >= $2 THEN 1
			WHEN ${isReadAhead('m', '$2')} THEN 1 ELSE 0 END AS is_read
	FROM (${page}) p
	LEFT JOIN push_devices d ON d.user_id = p.user_id
	LEFT JOIN users u ON u.id = p.user_id
	LEFT JOIN members m ON m.user_id = p.user_id AND m.conversation = $1 AND m.member = 1
	LEFT JOIN thread_follows f ON f.conversation = $1 AND f.thread_ts = $5 AND f.user_id = p.user_id
	ORDER BY p.user_id`;

/** A reply that is not broadcast is read in its thread: the cursor of the conversation does not matter. */
const candidatesInThread = (
	page: string,
): string => `SELECT p.user_id, d.id AS device, m.muted, m.level, u.snoozed_until_ts,
		1 AS follows, CASE WHEN f.cursor >= $2 THEN 1 ELSE 0 END AS is_read
	FROM (${page}) p
	LEFT JOIN push_devices d ON d.user_id = p.user_id
	LEFT JOIN users u ON u.id = p.user_id
	LEFT JOIN members m ON m.user_id = p.user_id AND m.conversation = $1 AND m.member = 1
	LEFT JOIN thread_follows f ON f.conversation = $1 AND f.thread_ts = $5 AND f.user_id = p.user_id
	ORDER BY p.user_id`;

const QUERIES: Readonly<Record<CandidateSource['of'], string>> = {
	members: candidatesIn(PAGES.members),
	devices: candidatesIn(PAGES.devices),
	followers: candidatesInThread(PAGES.followers),
};

interface CandidateRow {
	readonly user_id: string;
	readonly device: string | null;
	/** Null: not a member. */
	readonly muted: number | null;
	readonly level: NotificationLevel;
	readonly follows: number;
	readonly is_read: number;
	/** Null: no such user in the store. */
	readonly snoozed_until_ts: number | null;
}

export async function candidatesOf(
	reader: SqlReader,
	{ conversation, ts }: MessageKey,
	source: CandidateSource,
	after: string,
	limit: number,
): Promise<CandidatePage> {
	const params: Param[] = [conversation, ts, after, limit, source.threadTs ?? 0];
	const rows = await reader.all<CandidateRow>(QUERIES[source.of], params);
	const found = new Map<string, Candidate & { devices: string[] }>();
	const seen = new Set<string>();
	for (const row of rows) {
		seen.add(row.user_id);
		if (row.device === null || row.muted === null) continue;
		const known = found.get(row.user_id);
		if (known) known.devices.push(row.device);
		else
			found.set(row.user_id, {
				user: row.user_id,
				devices: [row.device],
				muted: row.muted === 1,
				level: row.level,
				follows: row.follows === 1,
				read: row.is_read === 1,
				snoozedUntilTs: row.snoozed_until_ts ?? 0,
			});
	}
	const last = rows.at(-1)?.user_id ?? null;
	return { candidates: [...found.values()], next: seen.size < limit ? null : last };
}
