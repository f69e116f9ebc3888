import type { Logger } from 'pino';
import { Repairer } from '../durability/repairer.ts';
import { Verifier } from '../durability/verifier.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import { AnonymousLimits } from '../gateway/anonymous-limits.ts';
import { Authenticator } from '../gateway/auth/authenticator.ts';
import { type JwtVerifier, jwtVerifier } from '../gateway/auth/jwt.ts';
import { subscribeToRevocations } from '../gateway/auth/revocations.ts';
import { TokenUses } from '../gateway/auth/token-uses.ts';
import { onUnpublishedChanges, resetForGap } from '../gateway/bus-gaps.ts';
import { DirectPartners } from '../gateway/direct-partners.ts';
import { FairGate } from '../gateway/fair-gate.ts';
import { FileSweeper } from '../gateway/files/sweeper.ts';
import { Cors } from '../gateway/http/cors.ts';
import { Limits, type Rates } from '../gateway/limits.ts';
import { MemoryBudget } from '../gateway/memory-budget.ts';
import { Requests } from '../gateway/requests.ts';
import { ScheduledPosts } from '../gateway/scheduled-posts.ts';
import type { Services } from '../gateway/services.ts';
import { CountsPush } from '../gateway/socket/counts-push.ts';
import { Focus } from '../gateway/socket/focus.ts';
import { Heartbeat } from '../gateway/socket/heartbeat.ts';
import { Hub } from '../gateway/socket/hub.ts';
import { Presence } from '../gateway/socket/presence.ts';
import { type Listening, listen } from '../gateway/socket/server.ts';
import { TeamSecrets } from '../gateway/team-secrets.ts';
import { networkOf } from '../protocol/networks.ts';
import type { VapidKey } from '../push/web/vapid.ts';
import { Marking } from '../unread/marking.ts';
import { Sync } from '../unread/sync.ts';
import { appsAt, type RunningApps } from './apps.ts';
import type { Config } from './config.ts';
import type { GatewayEngine } from './engine.ts';
import { type GatewayCheckParts, startChecks } from './gateway-checks.ts';
import { shownUrl } from './listen-address.ts';
import type { ServerOperations } from './operations.ts';
import { nowMs, random, steadyMs } from './runtime.ts';
import { ServiceWatch } from './service-watch.ts';
import { watchClock } from './stamp-clock.ts';
import { CannotListen } from './start-failures.ts';
import { VERSION } from './version.ts';

/** The composition of a gateway on either engine: API, sockets, files, apps and background jobs. */

export interface GatewayParts {
	readonly config: Config;
	readonly adminToken: string;
	/** Null: no Web Push. */
	readonly vapidKey: VapidKey | null;
	readonly log: Logger;
	readonly engine: GatewayEngine;
	/** Null: files are disabled. */
	readonly contents: FileContents | null;
	readonly operations: ServerOperations;
	/** Reports whether workers process commands. */
	readonly workers?: Pick<ServiceWatch, 'lost' | 'regained'>;
}

export interface RunningGateway {
	readonly url: string;
	/** Called for a gap on the bus: forgets cached tokens and closes all sockets, so that clients resume. */
	resetForGap(): Promise<void>;
	/** Accepts no more requests, closes sockets a few at a time, and finishes running work. */
	stop(): Promise<void>;
}

const NO_ANSWERS =
	'no worker processes commands. See /readyz; in a cluster, check that a worker is running (`tidemark worker`)';
/** A large answer takes about 40 MB while it is built. */
const LARGE_READS_AT_ONCE = 2;

export async function startGateway(parts: GatewayParts): Promise<RunningGateway> {
	const { config, engine, operations } = parts;
	const { store, bus } = engine;
	const url = (): string => shownUrl(config.host, listening.port);
	const apps = appsAt(engine, config, operations, () => config.publicUrl ?? url());
	const delivery = deliveryOf(parts);
	const { hub, presence } = delivery;
	engine.onPresence((user) => presence.refresh(user));
	const requests = requestsOf(parts);
	const tokenUses = new TokenUses(store.directory);
	const partners = new DirectPartners(engine.persistedDirectory, store.directory, steadyMs);
	const verifier = new Verifier(engine.readState, store.source);
	const services = await servicesOf(parts, { ...delivery, apps, requests, tokenUses, partners, verifier });
	const { auth } = services;
	const heartbeat = new Heartbeat({
		eachConnection: (visit) => hub.eachConnection(visit),
		timeoutMs: config.socketTimeoutSeconds * 1000,
	});
	const focus = focusOf(parts, services, hub, heartbeat);
	const jobs = startJobs(parts, services, { hub, presence, tokenUses, verifier });
	const unsubscribeFromRevocations = subscribeToRevocations(bus, auth, partners);
	const reset = () => resetForGap({ hub, auth, requests, bus });
	const stopWatchingGaps = onUnpublishedChanges(bus, () => void reset());
	await apps.open();
	await bus.ready();
	const listening: Listening = listenOn(config, engine.gateway, {
		services,
		hub,
		presence,
		focus,
		heartbeat,
		appSockets: apps.sockets,
	});
	apps.startDelivery();
	return {
		url: url(),
		resetForGap: reset,
		stop: async () => {
			operations.stopping();
			await jobs.stop();
			await apps.stop();
			await listening.stop();
			await tokenUses.flush().catch(() => undefined);
			requests.close();
			unsubscribeFromRevocations();
			stopWatchingGaps();
		},
	};
}

/** Delivery to sockets: live events, and the events that a client missed. */
function deliveryOf({ config, engine, operations }: GatewayParts) {
	const { store, views, readState, bus } = engine;
	const largeReads = new FairGate(LARGE_READS_AT_ONCE);
	const sync = new Sync({
		views,
		changes: store.changes,
		directory: store.directory,
		history: store.history,
		mostChanges: config.resumeChanges,
		inTurn: (user, read) => largeReads.run(user, read),
	});
	const counts = new CountsPush(readState, (error) => operations.failed('rtm.counts', error));
	const hub = new Hub(bus, counts, {
		newestChange: async (user, conversation) =>
			(await readState.row(user, conversation))?.position.conversation ?? null,
		missed: async (user, position, pushed) => sync.missed(user, await views.since(user, position), pushed),
		failed: (error) => operations.failed('rtm.joined', error),
	});
	operations.watchSockets(hub);
	const marking = new Marking(views, readState, bus);
	return { largeReads, sync, hub, marking, presence: new Presence(bus, engine.presence, marking) };
}

function requestsOf({ engine, operations, workers }: GatewayParts): Requests {
	const watch = workers ?? new ServiceWatch('worker', operations);
	const requests = new Requests(engine.log, engine.bus, engine.gateway, engine.clock, {
		silent: () => watch.lost('answers', new Error(NO_ANSWERS)),
		answered: () => watch.regained('answers'),
	});
	operations.watchPosts(requests);
	return requests;
}

interface ServicesParts {
	readonly apps: RunningApps;
	readonly sync: Sync;
	readonly marking: Marking;
	readonly largeReads: FairGate;
	readonly presence: Presence;
	readonly requests: Requests;
	readonly tokenUses: TokenUses;
	readonly partners: DirectPartners;
	readonly verifier: Verifier;
}

async function servicesOf(
	{ config, engine, operations, contents, vapidKey, adminToken }: GatewayParts,
	{ apps, sync, marking, largeReads, presence, requests, tokenUses, partners, verifier }: ServicesParts,
): Promise<Services> {
	const { store, views, readState, bus, clock } = engine;
	const repairer = new Repairer(views, verifier, steadyMs);
	operations.watchCounts(verifier, repairer);
	return {
		requests,
		partners,
		marking,
		sync,
		readState,
		views,
		directory: store.directory,
		history: store.history,
		persistedDirectory: engine.persistedDirectory,
		source: store.source,
		push: store.push,
		apps: store.apps,
		appRequests: apps.requests,
		outgoing: apps.outgoing,
		search: store.search,
		scheduled: store.scheduled,
		files: contents && {
			records: store.files,
			contents,
			maxFileBytes: config.fileMaxMb * 1024 * 1024,
			maxTeamBytes: config.teamFilesMb * 1024 * 1024,
		},
		publicUrl: config.publicUrl,
		webPush: vapidKey && { key: vapidKey.publicKey, hosts: config.webPushHosts },
		bus,
		auth: new Authenticator({
			directory: store.directory,
			adminToken,
			apps: store.apps,
			jwt: await jwtVerifierOf(config),
			nowMs,
			uses: tokenUses,
		}),
		teamSecrets: new TeamSecrets(store.directory, random),
		tickets: engine.tickets,
		presence: {
			setAway: (user, away) => presence.setAway(user, away),
			isActive: (user) => engine.presence.isActive(user),
			presence: (user) => engine.presence.presence(user),
		},
		limits: new Limits(ratesOf(config), steadyMs, Math.random),
		anonymousLimits: new AnonymousLimits(
			{ perSecond: config.anonymousPerSecond, burst: config.anonymousPerSecond * 10 },
			steadyMs,
		),
		bodyMemory: budgetOf(config.bodyMemoryMb),
		answerMemory: budgetOf(config.answerMemoryMb),
		largeReads,
		clock,
		random,
		verifier,
		repairer,
		operations,
		cors: config.allowedOrigins === null ? null : new Cors(config.allowedOrigins),
		version: VERSION,
	};
}

const focusOf = (
	{ config, engine, operations }: GatewayParts,
	{ bus, marking }: Services,
	hub: Hub,
	heartbeat: Heartbeat,
): Focus =>
	new Focus({
		bus,
		marking,
		isActive: (user) => engine.presence.isActive(user),
		isListening: (user, conversation) => hub.isListening(user, conversation),
		onceSent: (user, work) => hub.onceSent(user, work),
		ping: (connection) => heartbeat.ping(connection),
		nowMs: steadyMs,
		idleMs: config.focusIdleSeconds * 1000,
		failed: (error) => operations.failed('rtm.focus', error),
	});

/** Background work: scheduled messages, leftover files, checks of counts, tokens and the clock. */
function startJobs(
	{ engine, operations }: GatewayParts,
	{ scheduled, directory, partners, requests, files, auth }: Services,
	checked: Pick<GatewayCheckParts, 'hub' | 'presence' | 'tokenUses' | 'verifier'>,
): { stop(): Promise<void> } {
	const clockWatch = watchClock(engine.clock, operations);
	const scheduledPosts = new ScheduledPosts({
		scheduled,
		requests,
		directory,
		partners,
		gateway: engine.gateway,
		nowMs,
		failed: (error) => operations.failed('posting scheduled messages', error),
	});
	const sweeper =
		files &&
		new FileSweeper({
			files,
			requests,
			nowMicros: () => engine.clock.next(),
			failed: (error) => operations.failed('cleaning up files', error),
		});
	const checks = startChecks({
		auth,
		...checked,
		failed: (about, error) => operations.failed(about, error),
	});
	return {
		stop: async () => {
			checks.stop();
			await scheduledPosts.stop();
			await sweeper?.stop();
			clockWatch.stop();
		},
	};
}

function listenOn(config: Config, gateway: string, parts: Parameters<typeof listen>[1]): Listening {
	const { host, port, socketBufferKb, answerMemoryMb, socketsPerUser, socketsPerAddress, trustedProxies } =
		config;
	try {
		return listen(
			{
				hostname: host,
				port,
				gateway,
				maxBufferedBytes: socketBufferKb * 1024,
				maxTotalBufferedBytes: answerMemoryMb * 1024 * 1024,
				socketsPerUser,
				socketsPerAddress,
				trustedProxies: trustedProxies.flatMap((text) => networkOf(text) ?? []),
				nowMs,
			},
			parts,
		);
	} catch (error) {
		throw new CannotListen(host, port, error);
	}
}

async function jwtVerifierOf({
	jwtSecret,
	jwtJwks,
	jwtAudience,
	jwtIssuer,
}: Config): Promise<JwtVerifier | null> {
	const options = {
		...(jwtSecret === null ? {} : { secret: jwtSecret }),
		...(jwtJwks === null ? {} : { jwks: jwtJwks }),
		...(jwtAudience === null ? {} : { audience: jwtAudience }),
		...(jwtIssuer === null ? {} : { issuer: jwtIssuer }),
	};
	try {
		return await jwtVerifier(options, nowMs);
	} catch (error) {
		const flags = jwtJwks === null ? '--jwt-secret' : `--jwt-jwks "${jwtJwks}"`;
		throw new Error(`${flags} cannot be used: ${(error as Error).message}`);
	}
}

/** A user or address may use an eighth of the budget, or one item of any size. */
const budgetOf = (megabytes: number): MemoryBudget => {
	const totalBytes = megabytes * 1024 * 1024;
	return new MemoryBudget({ totalBytes, shareBytes: totalBytes / 8, nowMs: steadyMs });
};

/** The bursts allow for users who catch up after a reconnect. */
export const ratesOf = (config: Config): Rates => ({
	requests: { perSecond: config.requestsPerSecond, burst: config.requestsPerSecond * 5 },
	posts: { perSecond: config.postsPerSecond, burst: config.postsPerSecond * 4 },
	connects: { perSecond: config.connectsPerSecond, burst: config.connectsPerSecond * 6, jitterSeconds: 5 },
});
