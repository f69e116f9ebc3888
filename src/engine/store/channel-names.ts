import { type BoundWrite, insertInto, statement } from './write-sql.ts';

/**
 * A channel name is reserved before its conversation is created or renamed, and belongs to it once the conversation
 * has the name. Reservations do not expire, because the command that needs one may be decided late. A caller that wants a
 * reserved name checks whether it is abandoned, makes sure that the pending command cannot take effect, and releases it.
 */

const RESERVE = insertInto(
	'channel_names',
	{ team: 1, name: 2, conversation: 3, reserved_at: 4 },
	{
		on: ['team', 'name'],
		update: `conversation = excluded.conversation, reserved_at = excluded.reserved_at
	WHERE channel_names.conversation = excluded.conversation`,
	},
);

const RELEASE = statement(
	null,
	`DELETE FROM channel_names WHERE team = $1 AND name = $2 AND conversation = $3 AND reserved_at <= $4
	AND NOT EXISTS (SELECT 1 FROM conversations WHERE conversations.id = $3 AND conversations.name = $2)`,
);

/** The conversation that reserved the name at or before this stamp and does not have it. */
export const ABANDONED_NAME = `SELECT conversation FROM channel_names WHERE team = $1 AND name = $2 AND reserved_at <= $3
	AND NOT EXISTS (SELECT 1 FROM conversations
		WHERE conversations.id = channel_names.conversation AND conversations.name = channel_names.name)`;

/** The conversation that has or reserved the name. */
export const OWNER_OF_NAME = 'SELECT conversation FROM channel_names WHERE team = $1 AND name = $2';

export const reserveName = (team: string, name: string, conversation: string, at: number): BoundWrite => ({
	write: RESERVE,
	params: [team, name, conversation, at],
});

export const releaseName = (
	team: string,
	name: string,
	conversation: string,
	reservedUpTo: number,
): BoundWrite => ({
	write: RELEASE,
	params: [team, name, conversation, reservedUpTo],
});
