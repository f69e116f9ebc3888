import type { App, Apps, AppToken, AppView, ViewKind, Webhook } from '../ports/apps.ts';
import { leasesOf } from './leases.ts';
import { pageOf, rowFinder } from './pages.ts';
import { list, type SqlReader } from './sql.ts';
import { type BoundWrite, deleteFrom, insertInto, statement, update } from './write-sql.ts';

/** SQL of apps. */

const CREATE = insertInto('apps', {
	id: 1,
	team: 2,
	bot_user: 3,
	signing_secret: 4,
	manifest: 5,
	created_ts: 6,
	updated_ts: 7,
	events_since_ts: 8,
	added_events: 9,
	lease: "''",
	lease_until: '0',
	paused_at: '0',
	failing_since_at: '0',
	last_error: "''",
	given_up: '0',
});
const SET_MANIFEST = update('apps', { manifest: 2, updated_ts: 3, added_events: 4 }, { id: 1 });
const REMOVE = ['app_tokens', 'app_cursors', 'app_sockets', 'app_webhooks', 'app_views']
	.map((table) => deleteFrom(table, { app: 1 }))
	.concat(deleteFrom('apps', { id: 1 }));
const APP_COLUMNS = `id, team, bot_user, signing_secret, manifest, created_ts, updated_ts, events_since_ts, added_events,
	paused_at, failing_since_at, last_error, given_up`;
const APP = `SELECT ${APP_COLUMNS} FROM apps WHERE id = $1`;
const APP_OF_BOT = `SELECT ${APP_COLUMNS} FROM apps WHERE bot_user = $1`;
const APPS_OF_TEAM = `SELECT ${APP_COLUMNS} FROM apps WHERE team = $1 AND id > $2 ORDER BY id LIMIT $3`;
const ALL = `SELECT ${APP_COLUMNS} FROM apps WHERE id > $1 ORDER BY id LIMIT $2`;

interface AppRow {
	readonly id: string;
	readonly team: string;
	readonly bot_user: string;
	readonly signing_secret: string;
	readonly manifest: string;
	readonly created_ts: number;
	readonly updated_ts: number;
	readonly events_since_ts: number;
	readonly added_events: string;
	readonly paused_at: number;
	readonly failing_since_at: number;
	readonly last_error: string;
	readonly given_up: number;
}

const appOf = (row: AppRow): App => ({
	id: row.id,
	team: row.team,
	botUser: row.bot_user,
	signingSecret: row.signing_secret,
	manifest: row.manifest,
	createdTs: row.created_ts,
	updatedTs: row.updated_ts,
	eventsSinceTs: row.events_since_ts,
	addedEvents: JSON.parse(row.added_events),
	pausedAt: row.paused_at,
	failingSinceAt: row.failing_since_at,
	lastError: row.last_error,
	givenUp: row.given_up,
});

const ADD_TOKEN = insertInto('app_tokens', {
	hash: 1,
	app: 2,
	team: 3,
	name: 4,
	created_ts: 5,
	revoked_ts: 6,
});
const REVOKE_TOKEN = update('app_tokens', { revoked_ts: 2 }, { hash: 1, revoked_ts: '= 0' });
const TOKEN_COLUMNS = 'hash, app, team, name, created_ts, revoked_ts';
const TOKEN = `SELECT ${TOKEN_COLUMNS} FROM app_tokens WHERE hash = $1`;
const TOKENS_OF = `SELECT ${TOKEN_COLUMNS} FROM app_tokens WHERE app = $1 ORDER BY created_ts, hash`;

interface TokenRow extends Pick<AppToken, 'hash' | 'app' | 'team' | 'name'> {
	readonly created_ts: number;
	readonly revoked_ts: number;
}

const tokenOf = ({ created_ts, revoked_ts, ...row }: TokenRow): AppToken => ({
	...row,
	createdTs: created_ts,
	revokedTs: revoked_ts,
});

const CURSORS = 'SELECT conversation, cursor FROM app_cursors WHERE app = $1';
const ADVANCE = insertInto(
	'app_cursors',
	{ app: 1, conversation: 2, cursor: 3 },
	{
		on: ['app', 'conversation'],
		update: `cursor = CASE WHEN excluded.cursor > app_cursors.cursor THEN excluded.cursor
			ELSE app_cursors.cursor END`,
	},
);
const SET_TROUBLE = update('apps', { paused_at: 2, failing_since_at: 3, last_error: 4 }, { id: 1 });
const ADD_GIVEN_UP = update('apps', { given_up: [2, (count) => `given_up + ${count}`] }, { id: 1 });

const OPENED = insertInto('app_sockets', { id: 1, app: 2, gateway: 3, until_at: 4 });
const CLOSED = deleteFrom('app_sockets', { id: 1 });
const KEEP = update('app_sockets', { until_at: 2 }, { gateway: 1 });
const DELETE_OWN = deleteFrom('app_sockets', { gateway: 1 });
const DELETE_OLD = deleteFrom('app_sockets', { until_at: ['<', 1] });
const SOCKETS = 'SELECT COUNT(*) AS sockets FROM app_sockets WHERE app = $1 AND until_at > $2';

const GATEWAYS = 'SELECT DISTINCT gateway FROM app_sockets WHERE app = $1 AND until_at > $2 ORDER BY gateway';

const ADD_WEBHOOK = insertInto('app_webhooks', {
	id: 1,
	app: 2,
	team: 3,
	conversation: 4,
	hash: 5,
	created_ts: 6,
});
const REMOVE_WEBHOOK = deleteFrom('app_webhooks', { id: 1 });
const WEBHOOK_COLUMNS = 'id, app, team, conversation, hash, created_ts';
const WEBHOOK = `SELECT ${WEBHOOK_COLUMNS} FROM app_webhooks WHERE id = $1`;
const WEBHOOKS_OF = `SELECT ${WEBHOOK_COLUMNS} FROM app_webhooks WHERE app = $1 ORDER BY created_ts, id`;

type WebhookRow = Omit<Webhook, 'createdTs'> & { readonly created_ts: number };

const webhookOf = ({ created_ts, ...row }: WebhookRow): Webhook => ({ ...row, createdTs: created_ts });

/** Counts a use and records its claim, unless the id is used up. */
const USE = statement(
	'app_uses',
	`INSERT INTO app_uses (id, team, uses, until_at, claims) VALUES ($1, $2, 1, $3, $4)
	ON CONFLICT (id) DO UPDATE SET uses = app_uses.uses + 1, claims = app_uses.claims || ' ' || excluded.claims
	WHERE app_uses.uses < $5`,
);
const CLAIMS = 'SELECT claims FROM app_uses WHERE id = $1';
const DELETE_USES = deleteFrom('app_uses', { until_at: ['<', 1] });

const SAVE_VIEW = insertInto(
	'app_views',
	{ id: 1, app: 2, team: 3, user_id: 4, kind: 5, hash: 6, body: 7, below: 8, updated_ts: 9 },
	{
		on: ['id'],
		update:
			'hash = excluded.hash, body = excluded.body, below = excluded.below, updated_ts = excluded.updated_ts',
	},
);
const VIEW = `SELECT id, app, team, user_id, kind, hash, body, below, updated_ts FROM app_views WHERE id = $1`;
const REMOVE_VIEWS = statement(
	'app_views',
	'DELETE FROM app_views WHERE id IN (SELECT item FROM EACH_TEXT($1) AS wanted)',
);
const DELETE_MODALS = deleteFrom('app_views', { kind: "= 'modal'", updated_ts: ['<', 1] });

interface ViewRow {
	readonly id: string;
	readonly app: string;
	readonly team: string;
	readonly user_id: string;
	readonly kind: ViewKind;
	readonly hash: string;
	readonly body: string;
	readonly below: string;
	readonly updated_ts: number;
}

const viewOf = ({ user_id, below, updated_ts, ...row }: ViewRow): AppView => ({
	...row,
	user: user_id,
	below: JSON.parse(below) as string[],
	updatedTs: updated_ts,
});

export function appsOn(
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
	/** For writes that no request waits for. */
	executeInBackground: (writes: readonly BoundWrite[]) => Promise<void>,
): Apps {
	const one = rowFinder(reader);
	const leases = leasesOf('apps', reader, executeInBackground);
	const socketsOf = async (app: string, nowAt: number): Promise<number> =>
		(await reader.all<{ sockets: number }>(SOCKETS, [app, nowAt]))[0]?.sockets ?? 0;
	return {
		create: (app) =>
			execute([
				{
					write: CREATE,
					params: [
						app.id,
						app.team,
						app.botUser,
						app.signingSecret,
						app.manifest,
						app.createdTs,
						app.updatedTs,
						app.eventsSinceTs,
						JSON.stringify(app.addedEvents),
					],
				},
			]),
		setManifest: (app, manifest, at, addedEvents) =>
			execute([{ write: SET_MANIFEST, params: [app, manifest, at, JSON.stringify(addedEvents)] }]),
		remove: (app) => execute(REMOVE.map((write) => ({ write, params: [app] }))),
		app: (id) => one(APP, id, appOf),
		appOfBot: (user) => one(APP_OF_BOT, user, appOf),
		appsOf: (team, after, limit) => pageOf(reader, APPS_OF_TEAM, [team], after, limit, appOf),
		all: (after, limit) => pageOf(reader, ALL, [], after, limit, appOf),

		addToken: ({ hash, app, team, name, createdTs, revokedTs }) =>
			execute([{ write: ADD_TOKEN, params: [hash, app, team, name, createdTs, revokedTs] }]),
		token: (hash) => one(TOKEN, hash, tokenOf),
		tokensOf: async (app) => (await reader.all<TokenRow>(TOKENS_OF, [app])).map(tokenOf),
		revokeToken: (hash, at) => execute([{ write: REVOKE_TOKEN, params: [hash, at] }]),

		cursors: async (app) => {
			const rows = await reader.all<{ conversation: string; cursor: number }>(CURSORS, [app]);
			return new Map(rows.map(({ conversation, cursor }) => [conversation, cursor]));
		},
		advance: (app, cursors) =>
			executeInBackground(
				cursors.map(([stream, stamp]) => ({ write: ADVANCE, params: [app, stream, stamp] })),
			),
		lease: async (app, holder, nowAt, untilAt) => (await leases.take(app, holder, nowAt, untilAt)) === holder,
		release: leases.release,
		setTrouble: (app, { pausedAt, failingSinceAt, lastError }) =>
			executeInBackground([{ write: SET_TROUBLE, params: [app, pausedAt, failingSinceAt, lastError] }]),
		addGivenUp: (app, count) => executeInBackground([{ write: ADD_GIVEN_UP, params: [app, count] }]),

		socketOpened: async ({ id, app, gateway }, nowAt, untilAt) => {
			await execute([{ write: OPENED, params: [id, app, gateway, untilAt] }]);
			return socketsOf(app, nowAt);
		},
		socketClosed: (id) => executeInBackground([{ write: CLOSED, params: [id] }]),
		keepSockets: (gateway, untilAt) => executeInBackground([{ write: KEEP, params: [gateway, untilAt] }]),
		removeSockets: (gateway, beforeAt) =>
			executeInBackground([
				{ write: DELETE_OWN, params: [gateway] },
				{ write: DELETE_OLD, params: [beforeAt] },
			]),
		socketsOf,
		gatewaysOf: async (app, nowAt) =>
			(await reader.all<{ gateway: string }>(GATEWAYS, [app, nowAt])).map(({ gateway }) => gateway),

		addWebhook: ({ id, app, team, conversation, hash, createdTs }) =>
			execute([{ write: ADD_WEBHOOK, params: [id, app, team, conversation, hash, createdTs] }]),
		webhook: (id) => one(WEBHOOK, id, webhookOf),
		webhooksOf: async (app) => (await reader.all<WebhookRow>(WEBHOOKS_OF, [app])).map(webhookOf),
		removeWebhook: (id) => execute([{ write: REMOVE_WEBHOOK, params: [id] }]),

		use: async ({ id, team, untilAt, most }, claim) => {
			await execute([{ write: USE, params: [id, team, untilAt, claim, most] }]);
			const [row] = await reader.all<{ claims: string }>(CLAIMS, [id]);
			return row?.claims.split(' ').includes(claim) ?? false;
		},

		saveView: (view) =>
			execute([
				{
					write: SAVE_VIEW,
					params: [
						view.id,
						view.app,
						view.team,
						view.user,
						view.kind,
						view.hash,
						view.body,
						list(view.below),
						view.updatedTs,
					],
				},
			]),
		view: (id) => one(VIEW, id, viewOf),
		removeViews: (ids) => execute([{ write: REMOVE_VIEWS, params: [list(ids)] }]),
		tidy: (nowAt, modalsBeforeTs) =>
			executeInBackground([
				{ write: DELETE_USES, params: [nowAt] },
				{ write: DELETE_MODALS, params: [modalsBeforeTs] },
				{ write: DELETE_OLD, params: [nowAt] },
			]),
	};
}
