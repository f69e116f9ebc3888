import { Rejection } from '../../model/errors.ts';
import type { Directory, Token } from '../ports/store.ts';
import * as accounts from './accounts.ts';
import { ABANDONED_NAME, OWNER_OF_NAME, releaseName, reserveName } from './channel-names.ts';
import { invitesOn } from './invites.ts';
import { pageOf, rowFinder } from './pages.ts';
import { preferencesOf, setPreference } from './preferences.ts';
import { CONVERSATION_COLUMNS, type ConversationRow, conversationOf, isReadAhead } from './rows.ts';
import { flag, inChunks, list, type SqlReader } from './sql.ts';
import type { BoundWrite } from './write-sql.ts';

/** Workspaces, users, tokens and conversations. Changes go through the same group commit as facts, in order with them. */

const CONVERSATIONS = `SELECT ${CONVERSATION_COLUMNS} FROM conversations
	WHERE id IN (SELECT item FROM EACH_TEXT($1) AS wanted) ORDER BY id`;

/** Conditions on conversation `c`: team, kinds, and whether archived ones are included. */
const ASKED_FOR = `c.team = $1 AND c.kind IN (SELECT item FROM EACH_TEXT($3) AS kinds) AND c.archived <= $4`;

/** Ids of the user's conversations; `after` and `limit` are parameters of the page. */
const idsOfOwn = (
	after: string,
	limit: string,
	condition = '',
): string => `SELECT c.id FROM members m CROSS JOIN conversations c
	WHERE m.user_id = $2 AND m.conversation > ${after} AND m.member = 1 AND c.id = m.conversation
		AND ${ASKED_FOR} ${condition}
	ORDER BY m.conversation LIMIT ${limit}`;
const IDS_OF_PUBLIC = `SELECT c.id FROM conversations c
	WHERE c.kind = 'public' AND c.id > $5 AND ${ASKED_FOR} ORDER BY c.id LIMIT $6`;

const among = (ids: string, limit = '$6'): string =>
	`SELECT ${CONVERSATION_COLUMNS} FROM conversations WHERE id IN (${ids}) ORDER BY id LIMIT ${limit}`;
const OWN = among(`SELECT id FROM (${idsOfOwn('$5', '$6')}) AS own`);
/** Filters before the page is cut: a short page, or its cursor, would reveal hidden conversations. */
const SHARED = among(
	`SELECT id FROM (${idsOfOwn(
		'$6',
		'$7',
		`AND (c.kind = 'public' OR EXISTS (SELECT 1 FROM members v
			WHERE v.user_id = $5 AND v.conversation = c.id AND v.member = 1))`,
	)}) AS own`,
	'$7',
);
/** Two short walks in order of id are cheaper than one over everybody's direct messages. */
const OWN_OR_PUBLIC = among(
	`SELECT id FROM (${idsOfOwn('$5', '$6')}) AS own UNION SELECT id FROM (${IDS_OF_PUBLIC}) AS shared`,
);

const MEMBERS = `SELECT user_id AS id FROM members
	WHERE conversation = $1 AND member = 1 AND user_id > $2 ORDER BY user_id LIMIT $3`;

const READERS = `SELECT m.user_id AS id FROM members m
	WHERE m.conversation = $1 AND m.member = 1 AND m.user_id > $3
		AND (m.cursor >= $2 OR ${isReadAhead('m', '$2')})
		AND NOT EXISTS (SELECT 1 FROM messages own
			WHERE own.conversation = $1 AND own.ts = $2 AND own.user_id = m.user_id)
	ORDER BY m.user_id LIMIT $4`;

const idOf = ({ id }: { readonly id: string }): string => id;

export function directoryOn(
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): Directory {
	const one = rowFinder(reader);

	return {
		...invitesOn(reader, execute),
		createTeam: (team) => execute([accounts.insertTeam(team)]),
		team: (id) => one(accounts.TEAM, id, accounts.teamOf),
		teams: (after, limit) => pageOf(reader, accounts.TEAMS, [], after, limit, accounts.teamOf),
		async teamSecret(id, fresh) {
			const read = async () => (await reader.all<{ secret: string }>(accounts.TEAM_SECRET, [id]))[0]?.secret;
			const known = await read();
			if (known) return known;
			await execute([accounts.setTeamSecretOnce(id, fresh)]);
			const stored = await read();
			if (!stored) throw new Rejection('team_not_found', `there is no workspace ${id}`);
			return stored;
		},

		async createUser(user) {
			await execute([accounts.insertUser(user)]);
			const [holder] = await reader.all<{ id: string }>(accounts.USER_WITH_NAME, [user.team, user.name]);
			return holder?.id === user.id;
		},
		users: (ids) =>
			inChunks(reader, ids, async (chunk) =>
				(await reader.all<accounts.UserRow>(accounts.USERS, [list(chunk)])).map(accounts.userOf),
			),
		usersOf: (team, after, limit) =>
			pageOf(reader, accounts.USERS_OF_TEAM, [team], after, limit, accounts.userOf),

		usersNamed: (team, names) =>
			inChunks(reader, names, async (chunk) =>
				(await reader.all<accounts.UserRow>(accounts.USERS_NAMED, [team, list(chunk)])).map(accounts.userOf),
			),
		async userWithEmail(team, email) {
			const [row] = await reader.all<accounts.UserRow>(accounts.USER_WITH_EMAIL, [team, email]);
			return row ? accounts.userOf(row) : null;
		},
		setProfile: (user, profile, realName, at) => execute([accounts.setProfile(user, profile, realName, at)]),
		snooze: (user, until) => execute([accounts.snooze(user, until)]),
		preferences: (user) => preferencesOf(reader, user),
		setPreference: (user, name, value) => execute([setPreference(user, name, value)]),

		createToken: (token) => execute([accounts.insertToken(token)]),
		token: (hash) => one(accounts.TOKEN, hash, accounts.tokenOf),
		revokeToken: (hash, at) => execute([accounts.revokeToken(hash, at)]),
		noteTokenUse: (uses) => execute(uses.map(accounts.noteTokenUse)),
		tokensOf: (user, after, limit) =>
			pageOf<accounts.TokenRow & { readonly id: string }, Token>(
				reader,
				accounts.TOKENS_OF_USER,
				[user],
				after,
				limit,
				accounts.tokenOf,
			),
		activeTokensOf: async (user, at, limit) =>
			(await reader.all<accounts.TokenRow>(accounts.ACTIVE_TOKENS_OF_USER, [user, at, limit])).map(
				accounts.tokenOf,
			),
		async tokenStarting(hashStart) {
			const params = [hashStart, accounts.endOf(hashStart)];
			const [row, another] = await reader.all<accounts.TokenRow>(accounts.TOKENS_STARTING, params);
			return row && !another ? accounts.tokenOf(row) : null;
		},
		signOut: (user, at) => execute(accounts.signOut(user, at)),
		deactivateUser: (user, at, signedOutAt) => execute(accounts.deactivate(user, at, signedOutAt)),
		reactivateUser: (user, at) => execute([accounts.reactivate(user, at)]),

		async channelNamed(team, name) {
			const [owner] = await reader.all<{ conversation: string }>(OWNER_OF_NAME, [team, name]);
			return owner?.conversation ?? null;
		},
		async reserveName(team, name, conversation, at) {
			await execute([reserveName(team, name, conversation, at)]);
			const [owner] = await reader.all<{ conversation: string }>(OWNER_OF_NAME, [team, name]);
			return owner?.conversation === conversation;
		},
		async abandonedName(team, name, reservedUpTo) {
			const [holder] = await reader.all<{ conversation: string }>(ABANDONED_NAME, [team, name, reservedUpTo]);
			return holder?.conversation ?? null;
		},
		releaseName: (team, name, conversation, reservedUpTo = Number.MAX_SAFE_INTEGER) =>
			execute([releaseName(team, name, conversation, reservedUpTo)]),

		conversations: (ids) =>
			inChunks(reader, ids, async (chunk) =>
				(await reader.all<ConversationRow>(CONVERSATIONS, [list(chunk)])).map(conversationOf),
			),
		conversationsOf(query, after, limit) {
			const includesPublic = !query.memberOnly && query.kinds.includes('public');
			const params = [query.team, query.user, list(query.kinds), flag(!query.excludeArchived)];
			if (query.viewer !== undefined && query.viewer !== query.user)
				return pageOf(reader, SHARED, [...params, query.viewer], after, limit, conversationOf);
			return pageOf(reader, includesPublic ? OWN_OR_PUBLIC : OWN, params, after, limit, conversationOf);
		},
		members: (conversation, after, limit) => pageOf(reader, MEMBERS, [conversation], after, limit, idOf),
		readers: (conversation, ts, after, limit) =>
			pageOf(reader, READERS, [conversation, ts], after, limit, idOf),
	};
}
