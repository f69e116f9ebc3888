import type { Team, Token, User } from '../ports/store.ts';
import { flag, type Statement } from './sql.ts';

/** Workspaces, users and tokens: their rows. */

export const TEAM = 'SELECT id, name, domain, created_ts FROM workspaces WHERE id = $1';

export interface TeamRow {
	readonly id: string;
	readonly name: string;
	readonly domain: string;
	readonly created_ts: number;
}

export const teamOf = (row: TeamRow): Team => ({
	id: row.id,
	name: row.name,
	domain: row.domain,
	createdTs: row.created_ts,
});

export const insertTeam = (team: Team): Statement => ({
	sql: 'INSERT INTO workspaces (id, name, domain, created_ts) VALUES ($1, $2, $3, $4)',
	params: [team.id, team.name, team.domain, team.createdTs],
});

export const TEAM_SECRET = 'SELECT secret FROM workspaces WHERE id = $1';

/** The first one stays. */
export const keepTeamSecret = (team: string, secret: string): Statement => ({
	sql: `UPDATE workspaces SET secret = $2 WHERE id = $1 AND secret = ''`,
	params: [team, secret],
});

const USER_COLUMNS = 'id, team, name, real_name, email, is_bot, deleted, updated_ts, signed_out_ts';
export const USERS = `SELECT ${USER_COLUMNS} FROM users
	WHERE id IN (SELECT item FROM EACH_TEXT($1) AS wanted) ORDER BY id`;
export const USERS_OF_TEAM = `SELECT ${USER_COLUMNS} FROM users
	WHERE team = $1 AND id > $2 ORDER BY id LIMIT $3`;
export const USER_WITH_NAME = 'SELECT id FROM users WHERE team = $1 AND name = $2';

export interface UserRow {
	readonly id: string;
	readonly team: string;
	readonly name: string;
	readonly real_name: string;
	readonly email: string;
	readonly is_bot: number;
	readonly deleted: number;
	readonly updated_ts: number;
	readonly signed_out_ts: number;
}

export const userOf = (row: UserRow): User => ({
	id: row.id,
	team: row.team,
	name: row.name,
	realName: row.real_name,
	email: row.email,
	isBot: row.is_bot === 1,
	deleted: row.deleted === 1,
	updatedTs: row.updated_ts,
	signedOutTs: row.signed_out_ts,
});

/** Does nothing where the name is taken: one taken name must not fail everybody's transaction. */
export const insertUser = (user: User): Statement => ({
	sql: `INSERT INTO users (${USER_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
	params: [
		user.id,
		user.team,
		user.name,
		user.realName,
		user.email,
		flag(user.isBot),
		flag(user.deleted),
		user.updatedTs,
		user.signedOutTs,
	],
});

const TOKEN_COLUMNS = 'hash, user_id, team, created_ts, revoked_ts, expires_ts';
export const TOKEN = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`;
export const TOKENS_OF_USER = `SELECT hash AS id, ${TOKEN_COLUMNS} FROM tokens
	WHERE user_id = $1 AND hash > $2 ORDER BY hash LIMIT $3`;
/** Two, to tell one from several. `g` follows every hex digit. */
export const TOKENS_STARTING = `SELECT ${TOKEN_COLUMNS} FROM tokens
	WHERE hash >= $1 AND hash < $2 ORDER BY hash LIMIT 2`;
export const endOf = (hashStart: string): string => `${hashStart}g`;

export interface TokenRow {
	readonly hash: string;
	readonly user_id: string;
	readonly team: string;
	readonly created_ts: number;
	readonly revoked_ts: number | null;
	readonly expires_ts: number | null;
}

export const tokenOf = (row: TokenRow): Token => ({
	hash: row.hash,
	user: row.user_id,
	team: row.team,
	createdTs: row.created_ts,
	revokedTs: row.revoked_ts,
	expiresTs: row.expires_ts,
});

export const insertToken = (token: Token): Statement => ({
	sql: `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)`,
	params: [token.hash, token.user, token.team, token.createdTs, token.revokedTs, token.expiresTs],
});

/** The first time counts. */
export const revokeToken = (hash: string, at: number): Statement => ({
	sql: 'UPDATE tokens SET revoked_ts = $2 WHERE hash = $1 AND revoked_ts IS NULL',
	params: [hash, at],
});

/** Tokens that the server does not know, JWTs, are told apart by when they were issued. */
export const signOut = (user: string, at: number): Statement[] => [
	{ sql: 'UPDATE tokens SET revoked_ts = $2 WHERE user_id = $1 AND revoked_ts IS NULL', params: [user, at] },
	{
		sql: 'UPDATE users SET signed_out_ts = $2 WHERE id = $1 AND signed_out_ts < $2',
		params: [user, at],
	},
];

export const deactivate = (user: string, at: number, signedOutAt: number): Statement[] => [
	...signOut(user, signedOutAt),
	setDeleted(user, true, at),
	{ sql: 'DELETE FROM push_devices WHERE user_id = $1', params: [user] },
];

export const reactivate = (user: string, at: number): Statement => setDeleted(user, false, at);

/** Of one that is so already nothing changes, not even when. */
const setDeleted = (user: string, deleted: boolean, at: number): Statement => ({
	sql: 'UPDATE users SET deleted = $2, updated_ts = $3 WHERE id = $1 AND deleted <> $2',
	params: [user, flag(deleted), at],
});
