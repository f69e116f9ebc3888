import { SharedStrings } from '../../model/shared-strings.ts';
import type { Profile, Team, Token, TokenUse, User } from '../ports/store.ts';
import { deleteScheduledOf } from './scheduled.ts';
import { flag, type Param } from './sql.ts';
import { type BoundWrite, deleteFrom, erasing, insertInto, update } from './write-sql.ts';

/** SQL of workspaces, users and tokens. */

export const TEAM = 'SELECT id, name, domain, created_ts FROM workspaces WHERE id = $1';
export const TEAMS = 'SELECT id, name, domain, created_ts FROM workspaces WHERE id > $1 ORDER BY id LIMIT $2';

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

const INSERT_TEAM = insertInto('workspaces', { id: 1, name: 2, domain: 3, created_ts: 4 });

export const insertTeam = (team: Team): BoundWrite => ({
	write: INSERT_TEAM,
	params: [team.id, team.name, team.domain, team.createdTs],
});

export const TEAM_SECRET = 'SELECT secret FROM workspaces WHERE id = $1';

/** No effect if the workspace already has a secret. */
const SET_SECRET_ONCE = update('workspaces', { secret: 2 }, { id: 1, secret: "= ''" });

export const setTeamSecretOnce = (team: string, secret: string): BoundWrite => ({
	write: SET_SECRET_ONCE,
	params: [team, secret],
});

export const USER_COLUMNS =
	'id, team, name, real_name, email, is_bot, deleted, updated_ts, signed_out_ts, profile, snoozed_until_ts';
export const USERS = `SELECT ${USER_COLUMNS} FROM users
	WHERE id IN (SELECT item FROM EACH_TEXT($1) AS wanted) ORDER BY id`;
export const USERS_OF_TEAM = `SELECT ${USER_COLUMNS} FROM users
	WHERE team = $1 AND id > $2 ORDER BY id LIMIT $3`;
export const USERS_NAMED = `SELECT ${USER_COLUMNS} FROM users
	WHERE team = $1 AND name IN (SELECT item FROM EACH_TEXT($2) AS wanted) ORDER BY id`;
export const USER_WITH_EMAIL = `SELECT ${USER_COLUMNS} FROM users
	WHERE team = $1 AND lower(email) = lower($2) AND email <> '' AND deleted = 0 ORDER BY id LIMIT 1`;
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
	readonly profile: string;
	readonly snoozed_until_ts: number;
}

const NO_PROFILE: Profile = {};
/** Ids of workspaces, each once in memory: many cached users have the same one. */
const teams = new SharedStrings();

export const userOf = (row: UserRow): User => ({
	id: row.id,
	team: teams.of(row.team),
	name: row.name,
	realName: row.real_name,
	email: row.email,
	isBot: row.is_bot === 1,
	deleted: row.deleted === 1,
	updatedTs: row.updated_ts,
	signedOutTs: row.signed_out_ts,
	profile: row.profile === '{}' ? NO_PROFILE : (JSON.parse(row.profile) as Profile),
	snoozedUntilTs: row.snoozed_until_ts,
});

/** No effect if the name is taken: a constraint error would fail the whole batch. */
const INSERT_USER = insertInto(
	'users',
	{
		id: 1,
		team: 2,
		name: 3,
		real_name: 4,
		email: 5,
		is_bot: 6,
		deleted: 7,
		updated_ts: 8,
		signed_out_ts: 9,
		profile: 10,
		snoozed_until_ts: 11,
		created_ts: 8,
	},
	'ignore',
);

/** In the order of the columns above. */
export const userParams = (user: User): Param[] => [
	user.id,
	user.team,
	user.name,
	user.realName,
	user.email,
	flag(user.isBot),
	flag(user.deleted),
	user.updatedTs,
	user.signedOutTs,
	JSON.stringify(user.profile),
	user.snoozedUntilTs,
];

export const insertUser = (user: User): BoundWrite => ({ write: INSERT_USER, params: userParams(user) });

const SET_PROFILE = update('users', { profile: 2, real_name: 3, updated_ts: 4 }, { id: 1 });

export const setProfile = (user: string, profile: Profile, realName: string, at: number): BoundWrite => ({
	write: SET_PROFILE,
	params: [user, JSON.stringify(profile), realName, at],
});

const SNOOZE = update('users', { snoozed_until_ts: 2 }, { id: 1 });

export const snooze = (user: string, until: number): BoundWrite => ({ write: SNOOZE, params: [user, until] });

const TOKEN_COLUMNS = 'hash, user_id, team, created_ts, revoked_ts, expires_ts, device, last_used_ts';
export const TOKEN = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`;
export const TOKENS_OF_USER = `SELECT hash AS id, ${TOKEN_COLUMNS} FROM tokens
	WHERE user_id = $1 AND hash > $2 ORDER BY hash LIMIT $3`;
export const ACTIVE_TOKENS_OF_USER = `SELECT ${TOKEN_COLUMNS} FROM tokens
	WHERE user_id = $1 AND revoked_ts IS NULL AND (expires_ts IS NULL OR expires_ts > $2)
	ORDER BY created_ts DESC, hash LIMIT $3`;
/** Two rows, to distinguish one match from several. `g` sorts after every hex digit. */
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
	readonly device: string;
	readonly last_used_ts: number;
}

export const tokenOf = (row: TokenRow): Token => ({
	hash: row.hash,
	user: row.user_id,
	team: row.team,
	createdTs: row.created_ts,
	revokedTs: row.revoked_ts,
	expiresTs: row.expires_ts,
	...(row.device === '' ? {} : { device: row.device }),
	...(row.last_used_ts === 0 ? {} : { lastUsedTs: row.last_used_ts }),
});

const INSERT_TOKEN = insertInto('tokens', {
	hash: 1,
	user_id: 2,
	team: 3,
	created_ts: 4,
	revoked_ts: 5,
	expires_ts: 6,
	device: 7,
});

export const insertToken = (token: Token): BoundWrite => ({
	write: INSERT_TOKEN,
	params: [
		token.hash,
		token.user,
		token.team,
		token.createdTs,
		token.revokedTs,
		token.expiresTs,
		token.device ?? '',
	],
});

/** No effect on a revoked token: the first revocation counts. */
const REVOKE_TOKEN = update('tokens', { revoked_ts: 2 }, { hash: 1, revoked_ts: 'IS NULL' });
const REVOKE_TOKENS_OF = update('tokens', { revoked_ts: 2 }, { user_id: 1, revoked_ts: 'IS NULL' });

export const revokeToken = (hash: string, at: number): BoundWrite => ({
	write: REVOKE_TOKEN,
	params: [hash, at],
});

const NOTE_USE = update('tokens', { last_used_ts: 2 }, { hash: 1, last_used_ts: ['<', 2] });

export const noteTokenUse = ({ hash, at }: TokenUse): BoundWrite => ({ write: NOTE_USE, params: [hash, at] });

const SIGN_OUT = update('users', { signed_out_ts: 2 }, { id: 1, signed_out_ts: ['<', 2] });

/** Invite links that would sign in this user again. */
const REVOKE_INVITES_OF = update(
	'invites',
	{ revoked_ts: 2 },
	{ user_id: 1, revoked_ts: 'IS NULL', used_ts: 'IS NULL' },
);

/** JWTs are not stored: they are rejected by their time of issue. */
export const signOut = (user: string, at: number): BoundWrite[] => [
	{ write: REVOKE_TOKENS_OF, params: [user, at] },
	{ write: SIGN_OUT, params: [user, at] },
	{ write: REVOKE_INVITES_OF, params: [user, at] },
];

const DELETE_DEVICES_OF = erasing(deleteFrom('push_devices', { user_id: 1 }));

export const deactivate = (user: string, at: number, signedOutAt: number): BoundWrite[] => [
	...signOut(user, signedOutAt),
	setDeleted(user, true, at),
	{ write: DELETE_DEVICES_OF, params: [user] },
	deleteScheduledOf(user),
];

export const reactivate = (user: string, at: number): BoundWrite => setDeleted(user, false, at);

/** No effect, not even on the time, if the user already has this state. */
const SET_DELETED = update('users', { deleted: 2, updated_ts: 3 }, { id: 1, deleted: ['<>', 2] });

const setDeleted = (user: string, deleted: boolean, at: number): BoundWrite => ({
	write: SET_DELETED,
	params: [user, flag(deleted), at],
});
