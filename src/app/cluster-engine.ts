import { Fitness } from '../engine/cluster/fitness.ts';
import { freshStore } from '../engine/cluster/fresh-store.ts';
import { Freshness } from '../engine/cluster/freshness.ts';
import { type KafkaLogs, openKafkaLogs } from '../engine/cluster/kafka/open.ts';
import { MarkLedger } from '../engine/cluster/mark-ledger.ts';
import { inspectPostgres } from '../engine/cluster/postgres/inspect.ts';
import { openPostgresStore, type PostgresStore } from '../engine/cluster/postgres/open.ts';
import { RedisBus } from '../engine/cluster/redis/bus.ts';
import { type Commands, connectCommands, makeSubscriber } from '../engine/cluster/redis/connection.ts';
import { Epoch } from '../engine/cluster/redis/epoch.ts';
import { causeOf } from '../engine/cluster/redis/failure-cause.ts';
import { EpochFence } from '../engine/cluster/redis/fence.ts';
import { Keys } from '../engine/cluster/redis/keys.ts';
import { findLayout } from '../engine/cluster/redis/layout.ts';
import { RedisViews, type RedisViewsParts } from '../engine/cluster/redis/read-state/redis-views.ts';
import { RedisSessions } from '../engine/cluster/redis/sessions.ts';
import { RedisTickets } from '../engine/cluster/redis/tickets.ts';
import { newId } from '../model/ids.ts';
import { ReadState } from '../unread/read-state.ts';
import { clusterAddresses } from './cluster-addresses.ts';
import type { Config } from './config.ts';
import type { GatewayEngine } from './engine.ts';
import { opening } from './opening.ts';
import type { ServerOperations } from './operations.ts';
import { PostgresWatch } from './postgres-watch.ts';
import { pushes } from './push.ts';
import { ServiceWatch } from './service-watch.ts';
import { type StampClock, stampClock } from './stamp-clock.ts';
import { configuredVapidKey } from './vapid-key.ts';

/** Kafka, Redis and PostgreSQL, shared by any number of gateways and workers. */

export interface Cluster {
	readonly commands: Commands;
	readonly keys: Keys;
	/** As it is, which may be a moment behind what has happened: for workers, who know what is not written yet. */
	readonly written: PostgresStore;
	readonly logs: KafkaLogs;
	readonly epoch: Epoch;
	readonly marks: MarkLedger;
	/** Of a worker, which starts it. */
	readonly fitness: Fitness;
	readonly views: RedisViews;
	readonly readState: ReadState;
	readonly bus: RedisBus;
	readonly clock: StampClock;
	/** Reports Redis as unavailable until a command succeeds. */
	readonly redisTrouble: (error: Error) => void;
	/** Called when live messages may have been missed. */
	onGap(listener: () => void): void;
	close(): Promise<void>;
}

export interface GatewayHooks {
	/** A user came to be active, or ceased to, by something that happened elsewhere. */
	onPresence(user: string): Promise<void>;
}

/** Clocks of machines that keep time differ by less. */
const OVERLAP_MICROS = 5_000_000;
const CLOSE_MARKS_MS = 5_000;
/** How often to check a service that is unavailable. */
const ASK_AGAIN_MS = 2_000;
/** One that is there answers much sooner. */
const REDIS_WITHIN_MS = 15_000;
const POSTGRES_WITHIN_MS = 15_000;
/** Topics that have to be made first are known to all brokers after a while. */
const KAFKA_WITHIN_MS = 30_000;
const NOT_HEARD = 'the subscription to live messages was lost';

const nowMicros = (): number => Date.now() * 1000;
/** For how long something takes: a clock that is set has no part in it. */
const nowMs = (): number => performance.now();
const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

/** Without the password that an address may hold. */
const shown = (where: string): string => (where.includes('://') ? new URL(where).host : where);

export async function openCluster(
	config: Config,
	operations: ServerOperations,
	{ keeping }: Pick<RedisViewsParts, 'keeping'> = {},
): Promise<Cluster> {
	const { redis, postgres, kafka } = clusterAddresses(config);
	const { installation } = config;
	const closing: (() => Promise<unknown> | unknown)[] = [];
	const open = <T>(service: string, where: string, withinMs: number, step: () => Promise<T>): Promise<T> =>
		opening(
			{ service: `${service} at ${shown(where)}`, withinMs, log: (what) => operations.warn(what) },
			step,
		);
	const close = async (): Promise<void> => {
		for (const step of closing.splice(0).reverse()) await step();
	};
	try {
		const { cluster, evicts } = await open('Redis', redis.url, REDIS_WITHIN_MS, () => findLayout(redis));
		if (evicts !== null && evicts !== 'noeviction')
			operations.warn(
				`Redis may evict changes that are not in PostgreSQL yet (maxmemory-policy is ${evicts}): set maxmemory-policy to noeviction`,
			);
		const place = { ...redis, prefix: `${installation}:`, cluster };
		const redisWatch = new ServiceWatch('redis', operations);
		const redisTrouble = (error: Error) => redisWatch.lost('commands', causeOf(error));
		const commands: Commands = await open('Redis', redis.url, REDIS_WITHIN_MS, () =>
			connectCommands(place, redisTrouble),
		);
		closing.push(() => commands.disconnect());
		const subscriber = makeSubscriber(place, commands, redisTrouble);
		closing.push(() => subscriber.close());
		const postgresWatch = new PostgresWatch(operations);
		// Connecting has a limit; a migration, which may follow, takes as long as it takes.
		await open('PostgreSQL', postgres.url, POSTGRES_WITHIN_MS, () => inspectPostgres(postgres, installation));
		const written = await open('PostgreSQL', postgres.url, Number.POSITIVE_INFINITY, () =>
			openPostgresStore({
				...postgres,
				schema: installation,
				startStamp: null,
				push: pushes(config, configuredVapidKey(config) !== null),
				...postgresWatch.of('writes'),
				reading: postgresWatch.of('reads'),
			}),
		);
		closing.push(() => written.close());
		const keys = new Keys(place.prefix);
		const epoch = new Epoch(commands, keys.prefix);
		const fitness = new Fitness(
			[
				{ name: 'Redis', ask: () => epoch.reached() },
				{ name: 'PostgreSQL', ask: () => written.probe() },
			],
			{
				onUnfit: (service, seconds) => {
					operations.warn(
						`${service} has not answered this worker for ${seconds} s: other workers take over its partitions. Check the connection from this machine to ${service}.`,
					);
					if (service === 'PostgreSQL') written.abandonConnections();
				},
				onAnswering: () => written.retryNow(),
				onFit: () => operations.warn('Redis and PostgreSQL answer again: this worker accepts partitions'),
			},
		);
		closing.push(() => fitness.stop());
		const kafkaWatch = new ServiceWatch('kafka', operations);
		const logs = await open('Kafka', kafka.brokers.join(', '), KAFKA_WITHIN_MS, () =>
			openKafkaLogs({
				...kafka,
				prefix: `${installation}-`,
				partitions: config.kafkaPartitions,
				replication: config.kafkaReplication,
				report: (error, about) => operations.failed(about, error),
				watch: operations,
				reach: kafkaWatch,
				fitness,
			}),
		);
		closing.push(() => logs.close());

		const clock = stampClock(await written.newestStamp());
		const gapListeners: (() => void)[] = [];
		const bus = new RedisBus(commands, subscriber, keys, {
			onGap: () => {
				redisWatch.lost('bus', new Error(NOT_HEARD));
				for (const listener of gapListeners) listener();
			},
			onReceiving: () => redisWatch.regained('bus'),
			onError: redisTrouble,
		});
		closing.push(() => bus.close());
		const asking = setInterval(() => {
			commands.ping().then(() => redisWatch.regained('commands'), redisTrouble);
			void bus.ask();
			void logs.ask();
			// Where nobody reads or writes, nobody would notice that it is back.
			if (postgresWatch.isFailing('reads')) written.source.starts().catch(() => undefined);
			if (postgresWatch.isFailing('writes')) written.askWrites().catch(() => undefined);
		}, ASK_AGAIN_MS);
		closing.push(() => clearInterval(asking));
		const marks = new MarkLedger({
			log: logs.marks,
			store: written.ledger,
			nowMs,
			onLog: (error) => (error ? kafkaWatch.lost('marks', error) : kafkaWatch.regained('marks')),
		});
		closing.push(() => marks.close(CLOSE_MARKS_MS));
		const views = await RedisViews.open({
			commands,
			keys,
			source: written.source,
			ledger: marks,
			clock,
			nowMicros,
			overlapMicros: OVERLAP_MICROS,
			fence: new EpochFence(epoch),
			...(keeping ? { keeping } : {}),
		});
		return {
			commands,
			keys,
			written,
			logs,
			epoch,
			marks,
			fitness,
			views,
			readState: new ReadState(views),
			bus,
			clock,
			redisTrouble,
			onGap: (listener) => void gapListeners.push(listener),
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

/** What a gateway runs on. */
export function gatewayEngine(cluster: Cluster, hooks: GatewayHooks): GatewayEngine {
	const { commands, keys, written, logs, epoch, views, readState, bus, clock } = cluster;
	const gateway = newId('N', random);
	const sessions = new RedisSessions(commands, keys, gateway, {
		onChanged: hooks.onPresence,
		onError: cluster.redisTrouble,
	});
	const freshness = new Freshness({ commands, keys, epoch, source: written.source, nowMs });
	const fresh = freshStore({
		store: written,
		freshness,
		membershipsOf: (conversation, users) => views.membershipsOf(conversation, users),
		marks: logs.marks,
		nowMicros,
	});
	return {
		name: 'cluster',
		store: { ...written, ...fresh },
		written: written.directory,
		readState,
		sessions,
		bus,
		log: logs.commands,
		tickets: new RedisTickets(commands, keys, random),
		clock,
		gateway,
		close: async () => sessions.close(),
	};
}
