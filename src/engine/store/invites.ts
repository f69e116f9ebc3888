import type { Invite, Invites } from '../ports/invites.ts';
import type { Token, User } from '../ports/store.ts';
import { endOf, userParams } from './accounts.ts';
import { pageOf } from './pages.ts';
import { integerParam, type SqlReader, textParam } from './sql.ts';
import { type BoundWrite, insertInto, statement, update } from './write-sql.ts';

/** SQL of invites, including the exchange of one for a token in a single transaction. */

const COLUMNS = 'hash, team, user_id, created_ts, expires_ts, revoked_ts, used_ts, claim, label, creator';
const INVITE = `SELECT ${COLUMNS} FROM invites WHERE hash = $1`;
const INVITES_OF_TEAM = `SELECT hash AS id, ${COLUMNS} FROM invites
	WHERE team = $1 AND hash > $2 ORDER BY hash LIMIT $3`;
const INVITES_STARTING = `SELECT ${COLUMNS} FROM invites WHERE hash >= $1 AND hash < $2 ORDER BY hash LIMIT 2`;

interface InviteRow {
	readonly hash: string;
	readonly team: string;
	readonly user_id: string;
	readonly created_ts: number;
	readonly expires_ts: number;
	readonly revoked_ts: number | null;
	readonly used_ts: number | null;
	readonly claim: string;
	readonly label: string;
	readonly creator: string;
}

const inviteOf = (row: InviteRow): Invite => ({
	hash: row.hash,
	team: row.team,
	user: row.user_id === '' ? null : row.user_id,
	createdTs: row.created_ts,
	expiresTs: row.expires_ts,
	revokedTs: row.revoked_ts,
	usedTs: row.used_ts,
	label: row.label,
	creator: row.creator === '' ? null : row.creator,
});

const INSERT = insertInto('invites', {
	hash: 1,
	team: 2,
	user_id: 3,
	created_ts: 4,
	expires_ts: 5,
	label: 6,
	creator: 7,
});
const REVOKE = update('invites', { revoked_ts: 2 }, { hash: 1, revoked_ts: 'IS NULL', used_ts: 'IS NULL' });

/** Declared for several tables (null), so that the statements keep this order in the transaction. */
const CLAIM = statement(
	null,
	`UPDATE invites SET used_ts = $2, claim = $3 WHERE hash = $1 AND used_ts IS NULL AND revoked_ts IS NULL`,
);
const IS_CLAIMED = (hash: string, claim: string): string =>
	`EXISTS (SELECT 1 FROM invites WHERE invites.hash = ${hash} AND invites.claim = ${claim})`;
const CREATE_USER = statement(
	null,
	`INSERT INTO users (id, team, name, real_name, email, is_bot, deleted, updated_ts, signed_out_ts, profile, snoozed_until_ts, created_ts)
	SELECT ${[1, 2, 3, 4, 5].map(textParam).join(', ')}, ${[6, 7, 8, 9].map(integerParam).join(', ')}, ${textParam(10)}, ${integerParam(11)}, ${integerParam(8)}
	WHERE ${IS_CLAIMED('$12', '$13')} ON CONFLICT DO NOTHING`,
);
const CREATE_TOKEN = statement(
	null,
	`INSERT INTO tokens (hash, user_id, team, created_ts, device)
	SELECT ${[1, 2, 3].map(textParam).join(', ')}, ${integerParam(4)}, ${textParam(5)}
	WHERE ${IS_CLAIMED('$6', '$1')} AND EXISTS (SELECT 1 FROM users WHERE users.id = $2)`,
);
/** The name was taken: the link stays usable. */
const RELEASE = statement(
	null,
	`UPDATE invites SET used_ts = NULL, claim = '' WHERE hash = $1 AND claim = $2
	AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = $3)`,
);

const exchange = (hash: string, token: Token, newUser: User | null): BoundWrite[] => [
	{ write: CLAIM, params: [hash, token.createdTs, token.hash] },
	...(newUser ? [{ write: CREATE_USER, params: [...userParams(newUser), hash, token.hash] }] : []),
	{
		write: CREATE_TOKEN,
		params: [token.hash, token.user, token.team, token.createdTs, token.device ?? '', hash],
	},
	{ write: RELEASE, params: [hash, token.hash, token.user] },
];

export function invitesOn(
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): Invites {
	return {
		createInvite: ({ hash, team, user, createdTs, expiresTs, label, creator }) =>
			execute([
				{ write: INSERT, params: [hash, team, user ?? '', createdTs, expiresTs, label, creator ?? ''] },
			]),
		async invite(hash) {
			const [row] = await reader.all<InviteRow>(INVITE, [hash]);
			return row ? inviteOf(row) : null;
		},
		invitesOf: (team, after, limit) =>
			pageOf<InviteRow & { readonly id: string }, Invite>(
				reader,
				INVITES_OF_TEAM,
				[team],
				after,
				limit,
				inviteOf,
			),
		async inviteStarting(hashStart) {
			const [row, another] = await reader.all<InviteRow>(INVITES_STARTING, [hashStart, endOf(hashStart)]);
			return row && !another ? inviteOf(row) : null;
		},
		revokeInvite: (hash, at) => execute([{ write: REVOKE, params: [hash, at] }]),
		async acceptInvite(hash, token, newUser) {
			await execute(exchange(hash, token, newUser));
			const [row] = await reader.all<InviteRow>(INVITE, [hash]);
			if (row?.claim === token.hash) return 'accepted';
			return row && row.used_ts === null && row.revoked_ts === null ? 'name_taken' : 'used';
		},
	};
}
