import { verifyUrl } from '../../../apps/http-transport.ts';
import type { App } from '../../../engine/ports/apps.ts';
import type { User } from '../../../engine/ports/store.ts';
import { problemsOf, settingsOf } from '../../../model/app-manifest.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { SLACKBOT_NAME } from '../../../protocol/slackbot.ts';
import { wireApp } from '../../apps/wire-app.ts';
import { publishRevocation } from '../../auth/revocations.ts';
import { newAppToken, newTokenShaped, tokenKey } from '../../auth/tokens.ts';
import type { Services } from '../../services.ts';
import * as type from '../argument-types.ts';
import { type Argument, required } from '../arguments.ts';
import { adminMethod, type Call, wallMicros } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { publishAppChange, publishTeamJoin, publishUserChange } from '../publish-changes.ts';
import { userWithId } from './admin-accounts.ts';

/** Administration of apps, which are created and changed with a Slack app manifest. */

const PAGE = 100;
const MAX_MANIFEST = 100_000;
const SECRET_BYTES = 16;
const MAX_TRIES = 50;

/** A manifest as an object, or as JSON or YAML text. */
const manifest: Argument<JsonObject> = required({
	expects: 'a Slack app manifest, as JSON or YAML',
	bad: 'invalid_manifest',
	parse: (value) => {
		const found = typeof value === 'string' ? parsed(value) : value;
		const [problem] = problemsOf(found);
		if (problem) throw new Rejection('invalid_manifest', `manifest: ${problem.pointer} ${problem.message}`);
		return found as JsonObject;
	},
});

function parsed(text: string): unknown {
	if (text.length > MAX_MANIFEST)
		throw new Rejection('invalid_manifest', `manifest: at most ${MAX_MANIFEST} characters`);
	try {
		return text.trimStart().startsWith('{') ? JSON.parse(text) : Bun.YAML.parse(text);
	} catch (error) {
		throw new Rejection('invalid_manifest', `manifest: ${(error as Error).message.slice(0, 200)}`);
	}
}

export const appId: Argument<string> = required({
	expects: 'an app id',
	bad: 'app_not_found',
	parse: (value) => (typeof value === 'string' && /^A[A-Z0-9]{2,20}$/.test(value) ? value : undefined),
});

export async function appWithId({ services }: Call, id: string): Promise<App> {
	const app = await services.apps.app(id);
	if (!app) throw new Rejection('app_not_found', 'app_id: no such app');
	return app;
}

export const adminAppsCreate = adminMethod({
	arguments: { team_id: type.team, manifest },
	run: async (args, call) => {
		const { directory, apps, clock, random } = call.services;
		if (!(await directory.team(args.team_id)))
			throw new Rejection('team_not_found', 'team_id: no such workspace');
		const settings = settingsOf(args.manifest);
		const at = clock.next();
		const bot = await createBot(call.services, args.team_id, settings.botName);
		const app: App = {
			id: newId('A', random),
			team: args.team_id,
			botUser: bot.id,
			signingSecret: Buffer.from(random(SECRET_BYTES)).toString('hex'),
			manifest: JSON.stringify(args.manifest),
			createdTs: at,
			updatedTs: at,
			eventsSinceTs: at,
			addedEvents: {},
			pausedAt: 0,
			failingSinceAt: 0,
			lastError: '',
			givenUp: 0,
		};
		await apps.create(app);
		const botToken = await createBotToken(call.services, app);
		const appToken = await createAppToken(call.services, app, 'socket mode');
		publishTeamJoin(call.services, bot);
		publishAppChange(call.services, app.id);
		return {
			app: await wireApp(app, call.services),
			credentials: { signing_secret: app.signingSecret, bot_token: botToken, app_token: appToken },
			...(await checkRequestUrl(app, call.services)),
		};
	},
});

/** Creates the app's bot: a user of the workspace with the first free name. */
async function createBot({ directory, random, clock }: Services, team: string, name: string): Promise<User> {
	const base =
		name
			.toLowerCase()
			.replace(/[^\p{L}\p{N}._-]+/gu, '-')
			.replace(/^-+|-+$/g, '')
			.slice(0, 70) || 'app';
	for (let number = 1; number <= MAX_TRIES; number += 1) {
		const user = {
			id: newId('U', random),
			team,
			name: number === 1 ? base : `${base}-${number}`,
			realName: name,
			email: '',
			isBot: true,
			deleted: false,
			updatedTs: clock.next(),
			signedOutTs: 0,
			profile: {},
			snoozedUntilTs: 0,
		};
		if (user.name !== SLACKBOT_NAME && (await directory.createUser(user))) return user;
	}
	throw new Rejection(
		'name_taken',
		`manifest: the bot’s name is taken, also with the suffixes -2 to -${MAX_TRIES}; choose another name`,
	);
}

export async function createBotToken({ directory, random, clock }: Services, app: App): Promise<string> {
	const token = newTokenShaped('xoxb', true, random);
	await directory.createToken({
		hash: tokenKey(token),
		user: app.botUser,
		team: app.team,
		createdTs: clock.next(),
		revokedTs: null,
		expiresTs: null,
	});
	return token;
}

export async function createAppToken(
	{ apps, random, clock }: Services,
	{ id, team }: App,
	name: string,
): Promise<string> {
	const token = newAppToken(id, random);
	await apps.addToken({ hash: tokenKey(token), app: id, team, name, createdTs: clock.next(), revokedTs: 0 });
	return token;
}

/** Like Slack, sends a challenge to the request URL; the answer of the method says whether it passed. */
async function checkRequestUrl(app: App, { outgoing, random }: Services): Promise<JsonObject> {
	const { socketMode, requestUrl } = settingsOf(JSON.parse(app.manifest));
	if (socketMode || requestUrl === '') return {};
	const challenge = Buffer.from(random(SECRET_BYTES)).toString('hex');
	const problem = await verifyUrl(app, requestUrl, challenge, outgoing, Date.now());
	return { request_url: { verified: problem === null, ...(problem === null ? {} : { problem }) } };
}

export const adminAppsUpdate = adminMethod({
	arguments: { app_id: appId, manifest },
	run: async (args, call) => {
		const { apps, clock } = call.services;
		const app = await appWithId(call, args.app_id);
		const before = settingsOf(JSON.parse(app.manifest)).botEvents;
		const { botEvents } = settingsOf(args.manifest);
		const at = clock.next();
		// An app does not receive events from before its subscription.
		const addedEvents = Object.fromEntries(
			botEvents.flatMap((name) => {
				const since = before.includes(name) ? app.addedEvents[name] : at;
				return since === undefined ? [] : [[name, since]];
			}),
		);
		await apps.setManifest(app.id, JSON.stringify(args.manifest), at, addedEvents);
		await apps.setTrouble(app.id, { pausedAt: 0, failingSinceAt: 0, lastError: '' });
		publishAppChange(call.services, app.id);
		const changed = await appWithId(call, args.app_id);
		return { app: await wireApp(changed, call.services), ...(await checkRequestUrl(changed, call.services)) };
	},
});

export const adminAppsInfo = adminMethod({
	arguments: { app_id: appId, secrets: type.flag },
	run: async (args, call) => {
		const app = await appWithId(call, args.app_id);
		return {
			app: { ...(await wireApp(app, call.services)), manifest: JSON.parse(app.manifest) },
			...(args.secrets ? { credentials: { signing_secret: app.signingSecret } } : {}),
		};
	},
});

export const adminAppsList = adminMethod({
	arguments: { team_id: type.team, limit: type.limit(PAGE), cursor: type.cursor('after') },
	run: async (args, { services }) => {
		if (!(await services.directory.team(args.team_id)))
			throw new Rejection('team_not_found', 'team_id: no such workspace');
		const page = await services.apps.appsOf(args.team_id, args.cursor ?? null, args.limit);
		return {
			apps: await Promise.all(page.items.map((app) => wireApp(app, services))),
			...nextCursor('after', page.next),
		};
	},
});

/** Deactivates the app's bot. Its messages stay. */
export const adminAppsDelete = adminMethod({
	arguments: { app_id: appId },
	run: async (args, call) => {
		const { apps, directory, auth, bus, clock } = call.services;
		const { id, botUser } = await appWithId(call, args.app_id);
		await apps.remove(id);
		await directory.deactivateUser(botUser, clock.next(), wallMicros());
		auth.forgetUser(botUser);
		publishRevocation(bus, null, botUser);
		publishUserChange(call.services, await userWithId(call, botUser));
		publishAppChange(call.services, id);
		return {};
	},
});

/** Ends a pause; events of the last 24 h are delivered. */
export const adminAppsResume = adminMethod({
	arguments: { app_id: appId },
	run: async (args, call) => {
		const { apps } = call.services;
		const app = await appWithId(call, args.app_id);
		await apps.setTrouble(app.id, { pausedAt: 0, failingSinceAt: 0, lastError: '' });
		// Store the manifest as changed, so that the gateway that delivers to the app starts to deliver again.
		await apps.setManifest(app.id, app.manifest, call.services.clock.next(), app.addedEvents);
		publishAppChange(call.services, app.id);
		return { app: await wireApp(await appWithId(call, app.id), call.services) };
	},
});
