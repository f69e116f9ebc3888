import { uptime } from 'node:os';
import { ClusterTime, readClocks } from '../engine/cluster/cluster-time.ts';
import { Fitness } from '../engine/cluster/fitness.ts';
import { freshStore } from '../engine/cluster/fresh-store.ts';
import { Freshness } from '../engine/cluster/freshness.ts';
import { type KafkaLogs, openKafkaLogs } from '../engine/cluster/kafka/open.ts';
import { MarkLedger } from '../engine/cluster/mark-ledger.ts';
import { inspectPostgres } from '../engine/cluster/postgres/inspect.ts';
import { openPostgresStore, type PostgresStore } from '../engine/cluster/postgres/open.ts';
import { RedisBus } from '../engine/cluster/redis/bus.ts';
import { type Commands, connectCommands, makeSubscriber } from '../engine/cluster/redis/connection.ts';
import { EpochGuard } from '../engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../engine/cluster/redis/epochs.ts';
import { causeOf } from '../engine/cluster/redis/failure-cause.ts';
import { inspectRedis } from '../engine/cluster/redis/inspect.ts';
import { Keys } from '../engine/cluster/redis/keys.ts';
import { RedisPresence } from '../engine/cluster/redis/presence.ts';
import { RedisViews, type RedisViewsParts } from '../engine/cluster/redis/read-state/redis-views.ts';
import { RedisTickets } from '../engine/cluster/redis/tickets.ts';
import { newId } from '../model/ids.ts';
import { OVERLAP_MICROS } from '../model/position.ts';
import { ReadState } from '../unread/read-state.ts';
import { clusterAddresses } from './cluster-addresses.ts';
import type { Config } from './config.ts';
import type { GatewayEngine } from './engine.ts';
import { openWithTimeout } from './open-with-timeout.ts';
import type { ServerOperations } from './operations.ts';
import { isPushConfigured } from './push.ts';
import { random, steadyMs } from './runtime.ts';
import { PostgresWatch, ServiceWatch } from './service-watch.ts';
import { clusterStampClock, elapsedClock, machineMicros, type StampClock } from './stamp-clock.ts';
import { configuredVapidKey } from './vapid-key.ts';

/** Opens Kafka, Redis and PostgreSQL for one process of a cluster and closes them again if a step fails. */

export interface Cluster {
	readonly commands: Commands;
	readonly keys: Keys;
	/**
	 * Reads return what PostgreSQL has now, which may lag behind the log. A worker knows which of its effects are not
	 * persisted yet; gateways read most things through `freshStore`, which waits for them.
	 */
	readonly postgres: PostgresStore;
	readonly logs: KafkaLogs;
	readonly epochs: Epochs;
	readonly guard: EpochGuard;
	readonly marks: MarkLedger;
	/** Started by workers only. */
	readonly fitness: Fitness;
	readonly views: RedisViews;
	readonly readState: ReadState;
	readonly bus: RedisBus;
	readonly clock: StampClock;
	/** The time of day that all processes agree on. */
	readonly nowMicros: () => number;
	/** Reports Redis as unavailable until a command succeeds. */
	readonly reportRedisError: (error: Error) => void;
	/** Called when live events may have been missed. */
	onGap(listener: () => void): void;
	close(): Promise<void>;
}

const CLOSE_MARKS_MS = 5_000;
/** How often to check a service that is unavailable. */
const CHECK_EVERY_MS = 2_000;
/** Startup limits: a healthy service answers much sooner. */
const REDIS_TIMEOUT_MS = 15_000;
const POSTGRES_TIMEOUT_MS = 15_000;
/** Includes the time until all brokers know topics that were just created. */
const KAFKA_TIMEOUT_MS = 30_000;
const SUBSCRIPTION_LOST = 'the subscription to live events was lost';

const clockWarning = (correction: number): string =>
	correction === 0
		? "The machine's clock agrees with Redis again: new messages are stamped by the machine's clock again."
		: `The machine's clock is ${Math.abs(Math.round(correction / 1e6))} s ${correction < 0 ? 'ahead of' : 'behind'} the clocks of Redis. ` +
			'This process uses the time of Redis. Set up time synchronization (NTP) on both machines.';

/** The address without the password that it may contain. */
const shown = (where: string): string => (where.includes('://') ? new URL(where).host : where);

export async function openCluster(
	config: Config,
	operations: ServerOperations,
	options: Pick<RedisViewsParts, 'keptChanges'> = {},
): Promise<Cluster> {
	const closing: CloseStep[] = [];
	const close = async (): Promise<void> => {
		for (const step of closing.splice(0).reverse()) await step();
	};
	try {
		return { ...(await openParts({ config, operations, closing }, options)), close };
	} catch (error) {
		await close();
		throw error;
	}
}

type CloseStep = () => Promise<unknown> | unknown;

interface OpenContext {
	readonly config: Config;
	readonly operations: ServerOperations;
	/** Each opened part adds a step; they run in reverse order. */
	readonly closing: CloseStep[];
}

async function openParts(
	context: OpenContext,
	{ keptChanges }: Pick<RedisViewsParts, 'keptChanges'>,
): Promise<Omit<Cluster, 'close'>> {
	const { operations, closing } = context;
	const redis = await openRedis(context);
	const { commands, keys, epochs } = redis;
	const reportRedisError = redis.onTrouble;
	const time = new ClusterTime({
		read: () => readClocks(commands, machineMicros, steadyMs),
		wallMicros: machineMicros,
		elapsedMicros: elapsedClock(uptime),
		onCorrected: (micros) => operations.warn(clockWarning(micros)),
	});
	// Before anything is stamped.
	await time.measure();
	const { nowMicros } = time;
	const { store: postgres, postgresWatch } = await openPostgres(context);
	const fitness = newFitness(context, epochs, postgres);
	const { logs, kafkaWatch } = await openKafka(context, fitness);
	const clock = clusterStampClock(await postgres.newestStamp(), nowMicros);
	const gapListeners: (() => void)[] = [];
	const bus = new RedisBus(commands, redis.subscriber, keys, {
		onGap: () => {
			redis.watch.lost('bus', new Error(SUBSCRIPTION_LOST));
			for (const listener of gapListeners) listener();
		},
		onReceiving: () => redis.watch.regained('bus'),
		onError: reportRedisError,
	});
	closing.push(() => bus.close());
	const checking = setInterval(() => {
		void time.measure();
		commands.ping().then(() => redis.watch.regained('commands'), reportRedisError);
		void bus.probe();
		void logs.probe();
		// An idle process sends no reads or writes that would show the recovery.
		if (postgresWatch.isFailing('reads')) postgres.source.starts().catch(() => undefined);
		if (postgresWatch.isFailing('writes')) postgres.probeWrites().catch(() => undefined);
	}, CHECK_EVERY_MS);
	closing.push(() => clearInterval(checking));
	const marks = new MarkLedger({
		log: logs.marks,
		store: postgres.ledger,
		nowMs: steadyMs,
		onLog: (error) => (error ? kafkaWatch.lost('marks', error) : kafkaWatch.regained('marks')),
	});
	closing.push(() => marks.close(CLOSE_MARKS_MS));
	const guard = new EpochGuard(epochs);
	const views = await RedisViews.open({
		commands,
		keys,
		source: postgres.source,
		ledger: marks,
		clock,
		nowMicros,
		overlapMicros: OVERLAP_MICROS,
		guard,
		...(keptChanges === undefined ? {} : { keptChanges }),
	});
	const readState = new ReadState(views);
	const onGap = (listener: () => void): void => void gapListeners.push(listener);
	const services = { commands, keys, postgres, logs, epochs, guard, fitness, bus, reportRedisError, onGap };
	return { ...services, marks, views, readState, clock, nowMicros };
}

/** Opens a service, with a log line while it does not answer and an error after `timeoutMs`. */
const openService = <T>(
	{ operations }: OpenContext,
	service: string,
	address: string,
	timeoutMs: number,
	open: () => Promise<T>,
): Promise<T> =>
	openWithTimeout(
		{ service: `${service} at ${shown(address)}`, timeoutMs, log: (what) => operations.warn(what) },
		open,
	);

async function openRedis(context: OpenContext) {
	const { config, operations, closing } = context;
	const { redis } = clusterAddresses(config);
	const open = <T>(step: () => Promise<T>) =>
		openService(context, 'Redis', redis.url, REDIS_TIMEOUT_MS, step);
	const { cluster, evicts } = await open(() => inspectRedis(redis));
	if (evicts !== null && evicts !== 'noeviction')
		operations.warn(
			`Redis may evict changes that are not in PostgreSQL yet (maxmemory-policy is ${evicts}): set maxmemory-policy to noeviction`,
		);
	const place = { ...redis, prefix: `${config.installation}:`, cluster };
	const watch = new ServiceWatch('redis', operations);
	const onTrouble = (error: Error) => watch.lost('commands', causeOf(error));
	const commands: Commands = await open(() => connectCommands(place, onTrouble));
	closing.push(() => commands.disconnect());
	const subscriber = makeSubscriber(place, commands, onTrouble);
	closing.push(() => subscriber.close());
	const keys = new Keys(place.prefix);
	return { commands, subscriber, keys, epochs: new Epochs(commands, keys.prefix), watch, onTrouble };
}

async function openPostgres(context: OpenContext) {
	const { config, operations, closing } = context;
	const { postgres } = clusterAddresses(config);
	const postgresWatch = new PostgresWatch(operations);
	const open = <T>(timeoutMs: number, step: () => Promise<T>) =>
		openService(context, 'PostgreSQL', postgres.url, timeoutMs, step);
	// Only connecting has a limit: a migration may follow, and it may take long.
	await open(POSTGRES_TIMEOUT_MS, () => inspectPostgres(postgres, config.installation));
	const store = await open(Number.POSITIVE_INFINITY, () =>
		openPostgresStore({
			...postgres,
			schema: config.installation,
			startStamp: null,
			push: isPushConfigured(config, configuredVapidKey(config) !== null),
			...postgresWatch.hooksFor('writes'),
			reading: postgresWatch.hooksFor('reads'),
		}),
	);
	closing.push(() => store.close());
	return { store, postgresWatch };
}

function newFitness({ operations, closing }: OpenContext, epochs: Epochs, postgres: PostgresStore): Fitness {
	const fitness = new Fitness(
		[
			{ name: 'Redis', probe: () => epochs.pingAll() },
			{ name: 'PostgreSQL', probe: () => postgres.probe() },
		],
		{
			onUnfit: (service, seconds) => {
				operations.warn(
					`${service} has not answered this worker for ${seconds} s. Workers that reach it take over this worker's partitions; if none does, this worker keeps them. Check ${service}, and the connection from this machine to it.`,
				);
				if (service === 'PostgreSQL') postgres.abandonConnections();
			},
			onAnswering: () => postgres.retryNow(),
			onFit: () => operations.warn('Redis and PostgreSQL answer again: this worker takes partitions again'),
		},
	);
	closing.push(() => fitness.stop());
	return fitness;
}

async function openKafka(context: OpenContext, fitness: Fitness) {
	const { config, operations, closing } = context;
	const { kafka } = clusterAddresses(config);
	const kafkaWatch = new ServiceWatch('kafka', operations);
	const logs = await openService(context, 'Kafka', kafka.brokers.join(', '), KAFKA_TIMEOUT_MS, () =>
		openKafkaLogs({
			...kafka,
			prefix: `${config.installation}-`,
			partitions: config.kafkaPartitions,
			replication: config.kafkaReplication,
			report: (error, about) => operations.failed(about, error),
			watch: operations,
			reach: kafkaWatch,
			fitness,
		}),
	);
	closing.push(() => logs.close());
	return { logs, kafkaWatch };
}

/** Adapts the cluster to the ports that a gateway needs. */
export function gatewayEngine(cluster: Cluster): GatewayEngine {
	const { commands, keys, postgres, logs, guard, views, readState, bus, clock, nowMicros } = cluster;
	const gateway = newId('N', random);
	const presenceListeners: ((user: string) => Promise<void>)[] = [];
	const presence = new RedisPresence(commands, keys, gateway, {
		onChanged: async (user) => {
			for (const listener of presenceListeners) await listener(user);
		},
		onError: cluster.reportRedisError,
	});
	const freshness = new Freshness({
		commands,
		keys,
		guard,
		source: postgres.source,
		changedSince: (user, since) => views.changedSince(user, since),
		nowMs: steadyMs,
	});
	const fresh = freshStore({
		store: postgres,
		freshness,
		async membershipsOf(conversation, users) {
			const memberships = await freshness.memberships(conversation, users);
			// The answer may show these marks only once they are durable.
			await cluster.marks.flushed();
			return memberships;
		},
		marks: logs.marks,
		nowMicros,
	});
	return {
		name: 'cluster',
		store: { ...postgres, ...fresh },
		persistedDirectory: postgres.directory,
		views,
		readState,
		presence,
		bus,
		log: logs.commands,
		tickets: new RedisTickets(commands, keys, random),
		clock,
		gateway,
		onPresence: (listener) => {
			presenceListeners.push(listener);
		},
		close: async () => presence.close(),
	};
}
