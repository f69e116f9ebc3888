import type { Logger } from 'pino';
import { Repairer } from '../durability/repairer.ts';
import { Verifier } from '../durability/verifier.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import { AnonymousLimits } from '../gateway/anonymous-limits.ts';
import { Authenticator } from '../gateway/auth/authenticator.ts';
import { type JwtVerifier, jwtVerifier } from '../gateway/auth/jwt.ts';
import { subscribeToRevocations } from '../gateway/auth/revocations.ts';
import { TokenUses } from '../gateway/auth/token-uses.ts';
import { DirectPartners } from '../gateway/direct-partners.ts';
import { FairGate } from '../gateway/fair-gate.ts';
import { FileSweeper } from '../gateway/files/sweeper.ts';
import { networkOf } from '../gateway/http/client-address.ts';
import { Cors } from '../gateway/http/cors.ts';
import { Limits } from '../gateway/limits.ts';
import { MemoryBudget } from '../gateway/memory-budget.ts';
import { onMissed, resetAfterGap } from '../gateway/missed-messages.ts';
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
import type { RandomBytes } from '../model/ids.ts';
import type { VapidKey } from '../push/web/vapid.ts';
import { Reads } from '../unread/reads.ts';
import { Sync } from '../unread/sync.ts';
import { appsAt } from './apps.ts';
import type { Config } from './config.ts';
import type { GatewayEngine } from './engine.ts';
import { CannotListen } from './failures.ts';
import type { ServerOperations } from './operations.ts';
import { ServiceWatch } from './service-watch.ts';
import { watchClock } from './stamp-clock.ts';
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
	readonly hub: Hub;
	readonly presence: Presence;
	/** Called after the bus was interrupted: clears caches that rely on having received every message. */
	resetAfterGap(): Promise<void>;
	/** Accepts no more requests, closes sockets a few at a time, and finishes running work. */
	stop(): Promise<void>;
}

const random: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
/** Wall clock, for tokens and other absolute times. */
const nowMs = (): number => Date.now();
/** Monotonic clock, for limits and durations: unaffected when the wall clock is set. */
const steadyMs = (): number => performance.now();
const NO_ANSWERS =
	'no worker processes commands: check that one is running (`tidemark worker`), and its /readyz';
/** Each takes about 40 MB while it is built. */
const LARGE_READS_AT_ONCE = 2;
const CHECK_EVERY_MS = 30_000;
const CHECKED_AT_ONCE = 5;

export async function startGateway(parts: GatewayParts): Promise<RunningGateway> {
	const { config, engine, operations } = parts;
	const { store, readState, bus, clock } = engine;
	const largeReads = new FairGate(LARGE_READS_AT_ONCE);
	const sync = new Sync({
		readState,
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
		missed: (user, since, pushed) => sync.missed(user, sync.sinceOf(since), pushed),
		failed: (error) => operations.failed('rtm.joined', error),
	});
	operations.watch(hub);
	const presence = new Presence(bus, engine.sessions, readState);
	const workers = parts.workers ?? new ServiceWatch('worker', operations);
	const requests = new Requests(engine.log, bus, engine.gateway, clock, {
		silent: () => workers.lost('answers', new Error(NO_ANSWERS)),
		answered: () => workers.regained('answers'),
	});
	operations.watchPosts(requests);
	const verifier = new Verifier(readState, store.source);
	const repairer = new Repairer(readState, verifier, steadyMs);
	operations.watchCounts(verifier, repairer);
	const clockWatch = watchClock(clock, operations);
	const files = parts.contents && {
		records: store.files,
		contents: parts.contents,
		mostBytes: config.fileMaxMb * 1024 * 1024,
		mostBytesOfTeam: config.teamFilesMb * 1024 * 1024,
	};
	const apps = appsAt(engine, config, operations, () => config.publicUrl ?? url());
	const url = (): string => `http://${shownHost(config.host)}:${listening.port}`;
	const partners = new DirectPartners(engine.written, store.directory, steadyMs);
	const tokenUses = new TokenUses(store.directory);
	const services: Services = {
		requests,
		partners,
		reads: new Reads(readState, bus),
		sync,
		readState,
		directory: store.directory,
		history: store.history,
		written: engine.written,
		source: store.source,
		push: store.push,
		apps: store.apps,
		appRequests: apps.requests,
		outgoing: apps.outgoing,
		search: store.search,
		scheduled: store.scheduled,
		files,
		publicUrl: config.publicUrl,
		webPush: parts.vapidKey && { key: parts.vapidKey.publicKey, hosts: config.webPushHosts },
		bus,
		auth: new Authenticator({
			directory: store.directory,
			adminToken: parts.adminToken,
			apps: store.apps,
			jwt: await verifierOf(config),
			nowMs,
			uses: tokenUses,
		}),
		teamSecrets: new TeamSecrets(store.directory, random),
		tickets: engine.tickets,
		sessions: {
			setAway: (user, away) => presence.setAway(user, away),
			isActive: (user) => engine.sessions.isActive(user),
			presence: (user) => engine.sessions.presence(user),
		},
		limits: new Limits(ratesOf(config), steadyMs, Math.random),
		anonymous: new AnonymousLimits(
			{ perSecond: config.anonymousPerSecond, burst: config.anonymousPerSecond * 10 },
			steadyMs,
		),
		bodies: budgetOf(config.bodyMemoryMb),
		answers: budgetOf(config.answerMemoryMb),
		largeReads,
		clock,
		random,
		verifier,
		repairer,
		operations,
		cors: config.allowedOrigins === null ? null : new Cors(config.allowedOrigins),
		version: VERSION,
	};
	const heartbeat = new Heartbeat({
		connections: () => hub.connections(),
		timeoutMs: config.socketTimeoutSeconds * 1000,
	});
	const focus = new Focus({
		bus,
		reads: services.reads,
		isActive: (user) => engine.sessions.isActive(user),
		isListening: (user, conversation) => hub.isListening(user, conversation),
		ping: (connection) => heartbeat.ping(connection),
		nowMs: steadyMs,
		idleMs: config.focusIdleSeconds * 1000,
		failed: (error) => operations.failed('rtm.focus', error),
	});
	const scheduledPosts = new ScheduledPosts({
		scheduled: store.scheduled,
		requests,
		directory: store.directory,
		nowMs,
		failed: (error) => operations.failed('posting scheduled messages', error),
	});
	const sweeper =
		files &&
		new FileSweeper({
			files,
			requests,
			nowMicros: () => clock.next(),
			failed: (error) => operations.failed('cleaning up files', error),
		});
	const unsubscribe = subscribeToRevocations(bus, services.auth, partners);
	const startOver = () => resetAfterGap({ hub, auth: services.auth, requests, bus });
	const unwatched = onMissed(bus, () => void startOver());
	await apps.start();
	await bus.ready();
	const checking = setInterval(() => {
		services.auth.sweep();
		tokenUses.flush().catch((error) => operations.failed('noting when tokens were used', error));
		checkSomebody(hub, verifier).catch((error) => operations.failed('checking counts', error));
	}, CHECK_EVERY_MS);
	const listening: Listening = listenOn(config, engine.gateway, {
		services,
		hub,
		presence,
		focus,
		heartbeat,
		appSockets: apps.sockets,
	});
	return {
		url: url(),
		hub,
		presence,
		resetAfterGap: startOver,
		stop: async () => {
			operations.stop();
			clearInterval(checking);
			await scheduledPosts.stop();
			await sweeper?.stop();
			clockWatch.stop();
			await apps.stop();
			await listening.stop();
			await tokenUses.flush().catch(() => undefined);
			requests.close();
			unsubscribe();
			unwatched();
		},
	};
}

/** Counts are derived and should never drift. Verifies a few of them continuously to detect bugs. */
async function checkSomebody(hub: Hub, verifier: Verifier): Promise<void> {
	const connections = [...hub.connections()];
	const one = connections[Math.floor(Math.random() * connections.length)];
	if (one) await verifier.verifySome(one.user, CHECKED_AT_ONCE, Math.random);
}

export const shownHost = (host: string): string =>
	['0.0.0.0', '::', '127.0.0.1'].includes(host) ? 'localhost' : host;

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
				maxBufferedInAllBytes: answerMemoryMb * 1024 * 1024,
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

async function verifierOf({
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

/** One user or address can use at most an eighth of the budget. */
const budgetOf = (megabytes: number): MemoryBudget => {
	const totalBytes = megabytes * 1024 * 1024;
	return new MemoryBudget({ totalBytes, shareBytes: totalBytes / 8, nowMs: steadyMs });
};

/** The bursts allow for users who catch up after a reconnect. */
const ratesOf = (config: Config) => ({
	requests: { perSecond: config.requestsPerSecond, burst: config.requestsPerSecond * 5 },
	posts: { perSecond: config.postsPerSecond, burst: config.postsPerSecond * 4 },
	connects: { perSecond: config.connectsPerSecond, burst: config.connectsPerSecond * 6, jitterSeconds: 5 },
});
