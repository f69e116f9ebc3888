import { type Cluster, gatewayEngine } from '../../../src/app/cluster-engine.ts';
import { startGateway } from '../../../src/app/gateway.ts';
import type { ServerOperations } from '../../../src/app/operations.ts';
import { clusterStampClock } from '../../../src/app/stamp-clock.ts';
import { startWorker } from '../../../src/app/worker.ts';
import { MarkLedger } from '../../../src/engine/cluster/mark-ledger.ts';
import { RedisBus } from '../../../src/engine/cluster/redis/bus.ts';
import { EpochGuard } from '../../../src/engine/cluster/redis/epoch-guard.ts';
import { Epochs } from '../../../src/engine/cluster/redis/epochs.ts';
import { Keys } from '../../../src/engine/cluster/redis/keys.ts';
import { presenceView } from '../../../src/engine/cluster/redis/presence.ts';
import { RedisViews } from '../../../src/engine/cluster/redis/read-state/redis-views.ts';
import { OVERLAP_MICROS } from '../../../src/model/position.ts';
import { ReadState } from '../../../src/unread/read-state.ts';
import type { Image } from '../database.ts';
import { ADMIN_TOKEN, AFTER_ANSWER_MS, CONFIG } from '../embedded.ts';
import { type AnsweredChange, isAnyChange, isMark } from '../network.ts';
import { loggerOf, simulatedOperations } from '../operations.ts';
import { SimulatedRedis } from '../redis/client.ts';
import type { SavedKeys } from '../redis/data.ts';
import type { Process } from '../scheduler.ts';
import type { ActivityAt, Shape, World } from '../world.ts';
import { SimulatedLog } from './log.ts';
import { SimulatedLocks, SimulatedPostgres } from './postgres.ts';

/** Two gateways and two workers on simulated services: the compositions of `tidemark gateway` and `tidemark worker`. */

const GATEWAYS = ['gateway-1', 'gateway-2'];
const WORKERS = ['worker-1', 'worker-2'];
const DOWN_MS = { least: 100, most: 6_000 };
const PROBE_EVERY_MS = 2_000;
const ZOMBIE_MS = { least: 7_000, most: 25_000 };
const STALL_MS = { least: 500, most: 8_000 };
const LOAD_MS = { least: 2_500, most: 9_000 };
/** Whether the change is a command, which a worker decides. */
const isSequenced = ({ method }: AnsweredChange): boolean =>
	/^chat\.|\.(join|invite|leave|kick|archive|unarchive)$/.test(method);
const RESTORED_MS = { least: 300, most: 4_000 };

interface Saved {
	readonly image: Image;
	readonly records: ReadonlyMap<string, readonly Buffer[]>;
	readonly keys: SavedKeys;
}

export class ClusterShape implements Shape {
	readonly servers = GATEWAYS;
	private readonly redis: SimulatedRedis;
	private readonly log: SimulatedLog;
	private readonly postgres: SimulatedPostgres;
	private readonly locks: SimulatedLocks;
	private readonly running = new Map<string, Process>();
	private readonly workersUp = new Set<Process>();
	/** A process that stays paused when the faults of the round end. */
	private zombie: Process | null = null;

	constructor(private readonly world: World) {
		const { scheduler, tally } = world;
		this.redis = new SimulatedRedis(scheduler, tally);
		this.log = new SimulatedLog(scheduler, tally);
		this.postgres = new SimulatedPostgres(scheduler, tally);
		this.locks = new SimulatedLocks(this.postgres, scheduler);
	}

	get processes(): readonly Process[] {
		return [...this.running.values()];
	}

	start(): void {
		for (const name of [...WORKERS, ...GATEWAYS]) this.startOne(name);
	}

	private startOne(name: string): void {
		const { scheduler } = this.world;
		const process = scheduler.process(name);
		process.clockOffsetMs = this.running.get(name)?.clockOffsetMs ?? 0;
		this.running.set(name, process);
		scheduler.at(process, 1, 'starts', () => {
			const boot = WORKERS.includes(name) ? this.bootWorker(process) : this.bootGateway(process);
			// A process that cannot start ends, and is started again.
			boot.catch((error) => {
				scheduler.note(`cannot start: ${error}`);
				if (process.alive) this.crash(process);
			});
		});
	}

	private async bootGateway(process: Process): Promise<void> {
		const operations = simulatedOperations(this.world.scheduler);
		const cluster = await this.open(process, operations);
		const engine = gatewayEngine(cluster);
		const gateway = await startGateway({
			config: CONFIG,
			adminToken: ADMIN_TOKEN,
			vapidKey: null,
			contents: null,
			log: loggerOf(this.world.scheduler),
			engine,
			operations,
		});
		cluster.onGap(() => void gateway.resetForGap());
	}

	private async bootWorker(process: Process): Promise<void> {
		const operations = simulatedOperations(this.world.scheduler);
		const cluster = await this.open(process, operations);
		await startWorker(CONFIG, cluster, operations, loggerOf(this.world.scheduler), this.locks.of(process));
		const { commands, keys, readState, postgres } = cluster;
		await this.world.phones?.startPusher(process, {
			store: postgres,
			readState,
			presence: presenceView(commands, keys),
			alone: false,
			report: (error, about) => operations.failed(about, error),
		});
		this.workersUp.add(process);
	}

	/** Composes the parts as `openCluster` does. */
	private async open(process: Process, operations: ServerOperations): Promise<Cluster> {
		const { scheduler } = this.world;
		const nowMs = (): number => performance.now();
		const nowMicros = (): number => Date.now() * 1000;
		const report = (error: unknown, about: string): void => operations.failed(about, error);
		const commands = this.redis.commandsOf(process);
		const postgres = this.postgres.storeOf(process, this.world.phones !== null);
		const keys = new Keys('t:');
		const epochs = new Epochs(commands, keys.prefix);
		const logs = this.log.logsOf(process, report);
		const clock = clusterStampClock(await postgres.newestStamp(), nowMicros);
		const gaps: (() => void)[] = [];
		const bus = new RedisBus(commands, this.redis.subscriberOf(process), keys, {
			onGap: () => {
				scheduler.note('live messages may have been missed');
				for (const listener of gaps) listener();
			},
			onError: (error) => scheduler.note(`bus: ${error.message}`),
		});
		setInterval(() => void bus.probe(), PROBE_EVERY_MS);
		const marks = new MarkLedger({ log: logs.marks, store: postgres.ledger, nowMs, onLog: () => undefined });
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
		});
		return {
			commands,
			keys,
			postgres,
			logs,
			epochs,
			guard,
			marks,
			fitness: { start: () => undefined, stop: () => undefined } as never,
			views,
			readState: new ReadState(views),
			bus,
			clock,
			nowMicros,
			reportRedisError: (error) => scheduler.note(`redis: ${error.message}`),
			onGap: (listener) => void gaps.push(listener),
			close: async () => undefined,
		};
	}

	crash(process: Process): void {
		const { scheduler, chaos } = this.world;
		process.kill();
		scheduler.at(chaos, scheduler.latency(DOWN_MS.least, DOWN_MS.most), `restarts ${process.name}`, () =>
			this.startOne(process.name),
		);
	}

	private any(names: readonly string[]): Process | undefined {
		const process = this.running.get(this.world.scheduler.random.pick(names) as string);
		return process?.alive ? process : undefined;
	}

	private killOne(names: readonly string[]): void {
		const process = this.any(names);
		if (process) this.crash(process);
	}

	private pauseOne(names: readonly string[]): void {
		const { scheduler } = this.world;
		const process = this.any(names);
		if (process) process.pausedUntil = scheduler.now + scheduler.latency(10, 20_000);
	}

	private losePowerAfter(isWanted: (change: AnsweredChange) => boolean): void {
		this.world.network.afterAnswer(this.world.chaos, AFTER_ANSWER_MS, isWanted, () => {
			this.world.tally('lost power after an answer');
			for (const process of this.running.values()) if (process.alive) this.crash(process);
			this.loseVolatileState();
		});
	}

	readonly faults = {
		'gateway crash': () => this.killOne(GATEWAYS),
		'worker crash': () => this.killOne(WORKERS),
		'paused gateway': () => this.pauseOne(GATEWAYS),
		'paused worker': () => this.pauseOne(WORKERS),
		rebalance: () => this.log.groups.conversations.shuffle(),
		'rebalance of marks': () => this.log.groups.users.shuffle(),
		'emptied redis': () => this.loseVolatileState(),
		'power loss after an answer': () => this.losePowerAfter(isAnyChange),
		// At first, a mark is only in Redis and the log. If the log is slow, the power loss shows whether the answer waited for the log.
		'power loss after a mark': () => {
			this.log.faults.slowest = 600;
			this.losePowerAfter(isMark);
		},
		// The worker has decided the change, but perhaps not persisted it. It resumes in a later round, when another one owns its partitions.
		'zombie after an answer': () =>
			this.world.network.afterAnswer(this.world.chaos, AFTER_ANSWER_MS, isSequenced, ({ conversation }) => {
				const { scheduler, tally } = this.world;
				const process = this.log.ownerOf(conversation);
				if (!process?.alive) return;
				tally('paused a worker after an answer');
				process.pausedUntil = scheduler.now + scheduler.latency(ZOMBIE_MS.least, ZOMBIE_MS.most);
				this.zombie = process;
			}),
		// Redis had the effects of the change, PostgreSQL does not have them yet. They must be persisted before Redis is loaded again.
		'emptied redis after an answer': () => {
			const { scheduler, network, chaos, tally } = this.world;
			this.postgres.faults.stalledUntil = scheduler.now + scheduler.latency(STALL_MS.least, STALL_MS.most);
			network.afterAnswer(chaos, AFTER_ANSWER_MS, isSequenced, () => {
				tally('emptied redis before effects were persisted');
				this.loseVolatileState();
			});
		},
		// The worker may have persisted posts that it could not apply yet.
		'worker crash during a recovery': () => {
			const { scheduler, chaos } = this.world;
			this.loseVolatileState();
			scheduler.at(chaos, scheduler.latency(RESTORED_MS.least, RESTORED_MS.most), '', () =>
				this.killOne(WORKERS),
			);
		},
		// Another process changes the state that was read, and Redis is emptied again: the outdated state must not be loaded.
		'emptied redis during a load': () => {
			this.loseVolatileState();
			this.postgres.afterLoad = (process, loaded) => {
				const { scheduler, chaos, network, tally } = this.world;
				tally('paused while loading');
				const pause = (): void => {
					process.pausedUntil = scheduler.now + scheduler.latency(LOAD_MS.least, LOAD_MS.most);
				};
				pause();
				this.zombie = process;
				const isByLoaded = ({ user }: AnsweredChange): boolean => user === loaded;
				network.afterAnswer(chaos, AFTER_ANSWER_MS, isByLoaded, () => {
					if (process.pausedUntil <= scheduler.now) return;
					tally('emptied redis during a load');
					this.loseVolatileState();
					pause();
				});
			};
		},
		'cut redis connections': () => {
			this.redis.faults.cut = 0.02;
		},
		'cut subscriber': () => {
			this.world.scheduler.random.pick([...this.redis.subscribers])?.cut();
		},
		'deaf subscriber': () => {
			const { scheduler } = this.world;
			const subscriber = scheduler.random.pick([...this.redis.subscribers]);
			subscriber?.deafen(scheduler.latency(10, 10_000));
		},
		'slow redis': () => {
			this.redis.faults.slowest = 200;
		},
		'refused appends': () => {
			this.log.faults.refused = 0.2;
		},
		'unconfirmed appends': () => {
			this.log.faults.unconfirmed = 0.1;
		},
		'slow kafka': () => {
			this.log.faults.slowest = 600;
		},
		'lost transactions': () => {
			Object.assign(this.postgres.faults, { lostBefore: 0.1, lostAfter: 0.1 });
		},
		'failed reads': () => {
			this.postgres.faults.failedRead = 0.1;
		},
		'slow postgres': () => {
			this.postgres.faults.slowest = 400;
		},
		'clock step': () => {
			const process = this.any([...GATEWAYS, ...WORKERS]);
			if (process) process.clockOffsetMs = (this.world.scheduler.random.next() - 0.5) * 4_000;
		},
	};

	heal(): void {
		Object.assign(this.redis.faults, { slowest: 1, cut: 0 });
		Object.assign(this.log.faults, { refused: 0, unconfirmed: 0, slowest: 2 });
		Object.assign(this.postgres.faults, {
			slowest: 2,
			lostBefore: 0,
			lostAfter: 0,
			failedRead: 0,
			stalledUntil: 0,
		});
		this.postgres.afterLoad = null;
		for (const process of this.running.values()) if (process !== this.zombie) process.pausedUntil = 0;
		this.zombie = null;
	}

	loseVolatileState(): void {
		this.redis.restart();
	}

	isDurable({ user, ts, active }: ActivityAt): boolean {
		const stored = this.postgres.disk.all('SELECT at, active FROM activity WHERE user_id = $1', [user]);
		const changes = [
			...this.log.activityOf(user),
			...stored.map((row) => ({ at: Number(row.at), active: row.active === 1 })),
		];
		const [newest] = changes.filter(({ at }) => at <= ts).sort((a, b) => b.at - a.at);
		return (newest?.active ?? false) === active;
	}

	isUp(): boolean {
		const { network } = this.world;
		return (
			GATEWAYS.every((name) => network.reaches(name)) &&
			WORKERS.every((name) => this.workersUp.has(this.running.get(name) as Process))
		);
	}

	save(): Saved {
		const { redis, log, postgres } = this;
		return { image: postgres.disk.image(), records: log.records(), keys: redis.data.copy() };
	}

	restore({ image, records, keys }: Saved): void {
		this.postgres.disk.restore(image);
		this.log.restore(records);
		this.redis.data.restore(keys);
	}

	close(): void {
		this.postgres.disk.close();
	}
}
