import type { Statement } from './sql.ts';

/**
 * Channel names are reserved before their conversation is created or renamed, and belong to it once it
 * carries them. A reservation that came to nothing (a crash in between) can be taken over after a minute.
 */

const STALE_AFTER_MICROS = 60_000_000;

const RESERVE = `INSERT INTO channel_names (team, name, conversation, reserved_at) VALUES ($1, $2, $3, $4)
	ON CONFLICT (team, name) DO UPDATE SET conversation = excluded.conversation,
		reserved_at = excluded.reserved_at
	WHERE channel_names.conversation = excluded.conversation
		OR (channel_names.reserved_at <= $5 AND NOT EXISTS (
			SELECT 1 FROM conversations
			WHERE conversations.id = channel_names.conversation AND conversations.name = channel_names.name))`;

const RELEASE = `DELETE FROM channel_names WHERE team = $1 AND name = $2 AND conversation = $3
	AND NOT EXISTS (SELECT 1 FROM conversations WHERE conversations.id = $3 AND conversations.name = $2)`;

/** Whose the name is; to be asked after reserving. */
export const OWNER_OF_NAME = 'SELECT conversation FROM channel_names WHERE team = $1 AND name = $2';

export const reserveName = (team: string, name: string, conversation: string, at: number): Statement => ({
	sql: RESERVE,
	params: [team, name, conversation, at, at - STALE_AFTER_MICROS],
});

export const releaseName = (team: string, name: string, conversation: string): Statement => ({
	sql: RELEASE,
	params: [team, name, conversation],
});
