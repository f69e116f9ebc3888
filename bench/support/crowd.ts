import { SQL } from 'bun';
import { NO_CHANNEL_TEXT } from '../../src/model/conversation.ts';
import { INSTALLATION } from './cluster.ts';
import { MESSAGE_TEXT, TEAM } from './dataset.ts';

/**
 * A great many rows of a cluster's database, made by the database itself: every one of `size` users in every one of `size`
 * conversations, with `size` messages each, of which everybody has the last few unread.
 */

const UNREAD = 50;
const BEGIN = 1_700_000_000_000_000;

export const crowdUser = (index: number): string => `UX${String(index).padStart(9, '0')}`;
const USER = `'UX' || lpad(u::text, 9, '0')`;
const CONVERSATION = `'CX' || lpad(c::text, 9, '0')`;

export async function makeCrowd(url: string, size: number): Promise<void> {
	const sql = new SQL(url, { max: 1, connection: { search_path: INSTALLATION } });
	const each = (name: string) => `generate_series(0, ${size - 1}) AS ${name}`;
	const remark = JSON.stringify(NO_CHANNEL_TEXT);
	try {
		await sql.unsafe(`INSERT INTO conversations (id, team, kind, name, creator, created_ts, archived, topic, purpose,
				previous_names, member_count, people, changed_ts, stamp)
			SELECT ${CONVERSATION}, '${TEAM}', 'public', lower(${CONVERSATION}), '${crowdUser(0)}', ${BEGIN}, 0, '${remark}',
				'${remark}', '[]', ${size}, '[]', ${BEGIN}, ${BEGIN} FROM ${each('c')}`);
		await sql.unsafe(`INSERT INTO members (user_id, conversation, member, joined_ts, cursor, revision, muted, level, changed_ts)
			SELECT ${USER}, ${CONVERSATION}, 1, ${BEGIN}, ${BEGIN + (size - UNREAD) * 1000}, 0, 0, 'all', ${BEGIN + size * 1000}
			FROM ${each('u')}, ${each('c')}`);
		await sql.unsafe(`INSERT INTO messages (conversation, ts, user_id, text, broadcast, channel_wide, here, changed_ts, deleted)
			SELECT ${CONVERSATION}, ${BEGIN} + 1000 * (m + 1)::bigint, '${crowdUser(0)}', '${MESSAGE_TEXT}', 0, 0, 0,
				${BEGIN} + 1000 * (m + 1)::bigint, 0 FROM ${each('c')}, ${each('m')}`);
		await sql.unsafe('ANALYZE');
	} finally {
		await sql.close({ timeout: 0 });
	}
}
