import type { KafkaLogs, KafkaLogsOptions } from '../../src/engine/cluster/kafka/open.ts';
import { MarkLedger } from '../../src/engine/cluster/mark-ledger.ts';
import type { PostgresStore } from '../../src/engine/cluster/postgres/open.ts';
import { EpochGuard } from '../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { RedisPublicationRecord } from '../../src/engine/cluster/redis/publication-record.ts';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { OnMoved } from '../../src/engine/ports/views.ts';
import { risingClock } from '../../src/model/ts.ts';
import type { Action, Outcome } from '../../src/sequencer/commands.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import { MarkPersistence } from '../../src/worker/mark-persistence.ts';
import { PartitionedWorker } from '../../src/worker/partitioned-worker.ts';
import { RollbackWatch } from '../../src/worker/rollback-watch.ts';
import { kafkaPlace } from './kafka.ts';
import { onPostgres, postgresPlace } from './postgres.ts';
import { connectBoth, redisPlace, removeKeys } from './redis.ts';
import { nowMicros, readStateOn } from './redis-read-state.ts';
import { TEAM } from './store/facts.ts';

/**
 * The worker of a cluster in the test's own process, on real services and a topic with one partition. The test halts and
 * resumes it, and may run code between two conversations of a batch.
 */

export interface LoneWorker {
	readonly worker: PartitionedWorker;
	/** Of the first worker; not started. */
	readonly rollbacks: RollbackWatch;
	readonly store: PostgresStore;
	readonly logs: KafkaLogs;
	readonly epochs: Epochs;
	readonly readState: ReadState;
	/** The name of the only partition of commands. */
	readonly partition: string;
	/** The outcomes of answered requests. */
	readonly answers: ReadonlyMap<number, Outcome>;
	/** Awaited before effects on this conversation are applied. */
	readonly before: Map<string, () => Promise<unknown>>;
	/** Resolves with the number of the request when the log has the command. */
	append(conversation: string, action: Action, actor?: string): Promise<number>;
	/** Removes the stored offsets of the log. */
	forgetProgress(): Promise<void>;
	/** PostgreSQL loses every message and the offsets of the log, as after a failover to a lagging replica. */
	rollBack(): Promise<void>;
	/** PostgreSQL rejects messages with this text from now on. */
	rejectText(text: string): Promise<void>;
	readonly claiming: {
		/** How often workers have claimed a partition. */
		count: number;
		/** Awaited after a worker has read the stored offset of a partition. */
		afterProgress: () => Promise<unknown>;
		/** Awaited before a worker writes the publication record. */
		beforeRecord: () => Promise<unknown>;
	};
	/** Removes everything of this worker's installation from Redis. */
	emptyRedis(): Promise<void>;
	/** The bus that the workers publish on. */
	readonly bus: MemoryBus;
	/** Makes a second worker, to start instead of the first or beside it. */
	another(): Promise<PartitionedWorker>;
	close(): Promise<void>;
}

const sleep = (ms: number): Promise<void> => Bun.sleep(ms);
const report = (): void => undefined;

export async function loneWorker(options: Partial<KafkaLogsOptions> = {}): Promise<LoneWorker> {
	const place = await postgresPlace();
	const store = await place.open({ startStamp: null });
	const kafka = kafkaPlace({ partitions: 1, ...options });
	const logs = await kafka.open();
	const redis = redisPlace('redis-cluster');
	const { commands, close } = await connectBoth(redis);
	const epochs = new Epochs(commands, redis.prefix);
	const marks = new MarkLedger({
		log: logs.marks,
		store: store.ledger,
		nowMs: Date.now,
		onLog: () => undefined,
	});
	const readState = await readStateOn(store, {
		commands,
		keys: new Keys(redis.prefix),
		ledger: marks,
		clock: risingClock(nowMicros, 0),
		guard: new EpochGuard(epochs),
	});
	const before = new Map<string, () => Promise<unknown>>();
	const watched = new Proxy(readState.port, {
		get(target, name) {
			if (name !== 'apply') return Reflect.get(target, name, target);
			return async <T>(effects: readonly Effect[], stored: number, onMoved: OnMoved<T>) => {
				await before.get(effects[0]?.conversation.id ?? '')?.();
				return target.apply(effects, stored, onMoved);
			};
		},
	});
	const bus = new MemoryBus();
	const answers = new Map<number, Outcome>();
	bus.subscribe('gateway:g1', (message) => {
		if (message.type === 'reply') answers.set(message.request, message.outcome);
	});
	const keys = new Keys(redis.prefix);
	const claiming: LoneWorker['claiming'] = {
		count: 0,
		afterProgress: async () => undefined,
		beforeRecord: async () => undefined,
	};
	class CountedRecord extends RedisPublicationRecord {
		override claim(partition: string, stored: number) {
			claiming.count += 1;
			return super.claim(partition, stored);
		}

		override async published(partition: string, generation: number, offset: number) {
			await claiming.beforeRecord();
			return super.published(partition, generation, offset);
		}
	}
	const nextOffset = async (partition: string): Promise<number> => {
		const offset = await store.nextOffset(partition);
		await claiming.afterProgress();
		return offset;
	};
	const workerOn = (logs: KafkaLogs) => {
		const persistence = new MarkPersistence(logs.marks, store);
		const worker = new PartitionedWorker({
			log: logs.commands,
			cursorLedger: marks,
			publications: new CountedRecord(commands, keys, epochs, nowMicros),
			ledger: { ...store, nextOffset },
			source: store.source,
			history: store.history,
			views: watched,
			bus,
			nowMs: Date.now,
			steadyMs: () => performance.now(),
			sleep,
			report,
		});
		return {
			worker,
			rollbacks: new RollbackWatch({ ledger: store, watched: [worker, persistence], report }),
		};
	};
	const { worker, rollbacks } = workerOn(logs);
	const others: PartitionedWorker[] = [];
	/** The logs of the worker that was made last: commands are appended through them. */
	let newest = logs;
	let requests = 0;
	return {
		worker,
		rollbacks,
		store,
		logs,
		epochs,
		readState,
		partition: kafka.partition('conversations', 0),
		answers,
		before,
		claiming,
		append: async (conversation, action, actor = 'U01') => {
			requests += 1;
			const request = requests;
			const command = { conversation, actor, team: TEAM, at: nowMicros() + request, action };
			await newest.commands.append({ command, replyTo: { gateway: 'g1', request } });
			return request;
		},
		forgetProgress: async () => void (await onPostgres(`DELETE FROM ${place.schema}.partition_progress`)),
		rollBack: async () =>
			void (await onPostgres(
				`DELETE FROM ${place.schema}.messages; DELETE FROM ${place.schema}.partition_progress`,
			)),
		rejectText: async (text) =>
			void (await onPostgres(`ALTER TABLE ${place.schema}.messages ADD CHECK (text <> '${text}')`)),
		emptyRedis: () => removeKeys(commands, redis.prefix),
		bus,
		another: async () => {
			newest = await kafka.open();
			const { worker: other } = workerOn(newest);
			others.push(other);
			return other;
		},
		close: async () => {
			await Promise.all([worker, ...others].map((one) => one.stop(1000)));
			await kafka.close();
			close();
			await store.close();
			await place.remove();
		},
	};
}
