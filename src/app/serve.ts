import type { Logger } from 'pino';
import { Authenticator } from '../gateway/auth/authenticator.ts';
import { type JwtVerifier, jwtVerifier } from '../gateway/auth/jwt.ts';
import { Limits } from '../gateway/limits.ts';
import { Requests } from '../gateway/requests.ts';
import type { Services } from '../gateway/services.ts';
import { CountsPush } from '../gateway/socket/counts-push.ts';
import { Focus } from '../gateway/socket/focus.ts';
import { Hub } from '../gateway/socket/hub.ts';
import { Presence } from '../gateway/socket/presence.ts';
import { type Listening, listen } from '../gateway/socket/server.ts';
import { Tickets } from '../gateway/tickets.ts';
import type { RandomBytes } from '../model/ids.ts';
import { Reads } from '../unread/reads.ts';
import { Sync } from '../unread/sync.ts';
import { Conversations } from '../worker/conversations.ts';
import { Worker } from '../worker/worker.ts';
import { type AdminToken, adminTokenOf, keepAdminToken } from './admin-token.ts';
import type { Config } from './config.ts';
import { type Engine, openEmbeddedEngine } from './engine.ts';
import { CannotListen } from './failures.ts';
import { ServerOperations } from './operations.ts';
import { VERSION } from './version.ts';

/** Every role in one process: the composition of `tidemark serve`. */

export interface Running {
	readonly url: string;
	readonly engine: Engine['name'];
	readonly admin: AdminToken;
	stop(): Promise<void>;
}

const random: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
const nowMs = (): number => Date.now();
const EVICT_EVERY_MS = 60_000;

export async function serve(config: Config, log: Logger): Promise<Running> {
	const engine = await openEmbeddedEngine(config.dataDir);
	try {
		return await start(config, await adminTokenOf(config.adminToken, config.dataDir), log, engine);
	} catch (error) {
		await engine.close();
		throw error;
	}
}

async function start(config: Config, admin: AdminToken, log: Logger, engine: Engine): Promise<Running> {
	const { store, readState, bus, clock } = engine;
	const counts = new CountsPush(readState, (error) => operations.failed('rtm.counts', error));
	const hub = new Hub(bus, counts);
	const presence = new Presence(bus, engine.sessions, readState);
	const operations = new ServerOperations(log, hub);
	const requests = new Requests(engine.log, bus, 'local', clock);
	const services: Services = {
		requests,
		reads: new Reads(readState, bus),
		sync: new Sync({
			readState,
			changes: store.changes,
			directory: store.directory,
			history: store.history,
			mostChanges: config.resumeChanges,
			overlapMicros: 0,
		}),
		readState,
		directory: store.directory,
		history: store.history,
		bus,
		auth: new Authenticator({
			directory: store.directory,
			adminToken: admin.token,
			jwt: await verifierOf(config),
			nowMs,
		}),
		tickets: new Tickets(nowMs, random),
		sessions: {
			setAway: (user, away) => presence.setAway(user, away),
			isActive: (user) => engine.sessions.isActive(user),
		},
		limits: new Limits(ratesOf(config), nowMs, Math.random),
		clock,
		random,
		operations,
		version: VERSION,
	};
	const focus = new Focus({
		bus,
		reads: services.reads,
		isActive: (user) => engine.sessions.isActive(user),
		nowMs,
		idleMs: config.focusIdleSeconds * 1000,
		failed: (error) => operations.failed('rtm.focus', error),
	});
	const conversations = new Conversations(store.source, store.history, nowMs);
	const worker = new Worker({
		log: engine.log,
		conversations,
		readState,
		ledger: store.ledger,
		bus,
		stampOf: engine.stampOf,
		report: (error, about) => log.error({ err: error, about }, 'the worker failed unexpectedly'),
	});
	engine.onSetback((error) => {
		worker.reset();
		operations.setback(error);
	});
	worker.start();
	const listening = listenOn(config, { services, hub, presence, focus });
	await keepAdminToken(admin, config.dataDir);
	const idleMs = config.idleMinutes * 60_000;
	const eviction = setInterval(() => {
		engine.evict(idleMs);
		conversations.evict(nowMs() - idleMs);
	}, EVICT_EVERY_MS);
	const host = ['0.0.0.0', '::', '127.0.0.1'].includes(config.host) ? 'localhost' : config.host;
	return {
		url: `http://${host}:${listening.port}`,
		engine: engine.name,
		admin,
		stop: async () => {
			operations.stop();
			clearInterval(eviction);
			await listening.stop();
			requests.close();
			await engine.close();
		},
	};
}

function listenOn(config: Config, parts: Parameters<typeof listen>[1]): Listening {
	const { host, port, socketBufferKb, socketsPerUser } = config;
	try {
		return listen(
			{ hostname: host, port, maxBufferedBytes: socketBufferKb * 1024, socketsPerUser, nowMs },
			parts,
		);
	} catch (error) {
		throw new CannotListen(host, port, error);
	}
}

async function verifierOf({ jwtSecret, jwtJwks }: Config): Promise<JwtVerifier | null> {
	const secret = jwtSecret === null ? {} : { secret: jwtSecret };
	const jwks = jwtJwks === null ? {} : { jwks: jwtJwks };
	try {
		return await jwtVerifier({ ...secret, ...jwks }, nowMs);
	} catch (error) {
		const flags = jwtJwks === null ? '--jwt-secret' : `--jwt-jwks "${jwtJwks}"`;
		throw new Error(`${flags} cannot be used: ${(error as Error).message}`);
	}
}

/** Bursts of a few seconds are people catching up; what lasts longer is not. */
const ratesOf = (config: Config) => ({
	requests: { perSecond: config.requestsPerSecond, burst: config.requestsPerSecond * 5 },
	posts: { perSecond: config.postsPerSecond, burst: config.postsPerSecond * 4 },
	connects: { perSecond: config.connectsPerSecond, burst: config.connectsPerSecond * 6, jitterSeconds: 5 },
});
