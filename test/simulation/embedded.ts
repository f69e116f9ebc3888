import { readConfig } from '../../src/app/config.ts';
import { type Engine, embeddedEngineOn } from '../../src/app/engine.ts';
import { startRoles } from '../../src/app/serve.ts';
import type { Image } from './database.ts';
import { Disk } from './disk.ts';
import { isAnyChange } from './network.ts';
import { loggerOf, simulatedOperations } from './operations.ts';
import type { Process } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/** One process with everything in it: the composition of `tidemark serve`, on a simulated disk and network. */

export const ADMIN_TOKEN = 'administrator-of-the-simulation';

export const CONFIG = readConfig(
	{
		'admin-token': ADMIN_TOKEN,
		'requests-per-second': '0',
		'posts-per-second': '0',
		'connects-per-second': '0',
		'idle-minutes': '5',
		'web-push': 'off',
	},
	{},
);

const NAME = 'server';
/** A crash within this time after an answer would lose changes that were acknowledged before they were durable. */
export const AFTER_ANSWER_MS = 8;
/** Evictions happen at random moments, also between a change and its commit. */
const MAX_EVICTIONS = 6;
const EVICTIONS_WITHIN_MS = 200;
/** How long a process that died stays down, in ms. */
const DOWN_MS = { least: 50, most: 4_000 };

export class EmbeddedShape implements Shape {
	readonly servers = [NAME];
	readonly disk: Disk;
	private process: Process | undefined;
	private engine: Engine | undefined;

	constructor(private readonly world: World) {
		this.disk = new Disk(world.scheduler, world.tally);
	}

	get processes(): readonly Process[] {
		return this.process ? [this.process] : [];
	}

	start(): void {
		const { scheduler } = this.world;
		const process = scheduler.process(NAME);
		process.clockOffsetMs = this.process?.clockOffsetMs ?? 0;
		this.process = process;
		scheduler.at(process, 1, 'starts', () => {
			// A process that cannot start ends, and is started again.
			this.boot(process).catch((error) => {
				scheduler.note(`cannot start: ${error}`);
				if (process.alive) this.crash(process);
			});
		});
	}

	private async boot(process: Process): Promise<void> {
		const { scheduler, phones } = this.world;
		const operations = simulatedOperations(scheduler);
		const engine = await embeddedEngineOn(
			async ({ onCommitFailure }) => this.disk.openStore(process, onCommitFailure, phones !== null),
			() => scheduler.now / 1000,
		);
		this.engine = engine;
		await startRoles({
			config: CONFIG,
			adminToken: ADMIN_TOKEN,
			vapidKey: null,
			contents: null,
			log: loggerOf(this.world.scheduler),
			engine,
			operations,
		});
		const report = (error: unknown, about: string): void => operations.failed(about, error);
		await phones?.startPusher(process, { ...engine, alone: true, report });
	}

	crash(process: Process): void {
		const { scheduler } = this.world;
		process.kill();
		scheduler.at(
			this.world.chaos,
			scheduler.latency(DOWN_MS.least, DOWN_MS.most),
			'restarts the server',
			() => this.start(),
		);
	}

	readonly faults = {
		crash: () => {
			if (this.process?.alive) this.crash(this.process);
		},
		'crash after an answer': () =>
			this.world.network.afterAnswer(this.world.chaos, AFTER_ANSWER_MS, isAnyChange, () => {
				this.world.tally('crashed after an answer');
				if (this.process?.alive) this.crash(this.process);
			}),
		evict: () => {
			const { process, engine } = this;
			const { scheduler, chaos } = this.world;
			const times = 1 + scheduler.random.below(MAX_EVICTIONS);
			for (let time = 0; time < times; time += 1)
				scheduler.at(chaos, scheduler.random.next() * EVICTIONS_WITHIN_MS, '', () => {
					if (process?.alive) scheduler.within(process, () => engine?.evict(0));
				});
		},
		'failing disk': () => {
			this.disk.faults.failedCommit = 0.3;
			// Often slow as well, so that later decisions queue behind the batch that fails.
			if (this.world.scheduler.random.chance(0.6)) this.disk.faults.slowest = 150;
		},
		'full disk': () => {
			const { scheduler } = this.world;
			this.disk.faults.fullUntil = scheduler.now + scheduler.latency(5, 2_000);
		},
		'slow disk': () => {
			this.disk.faults.slowest = 800;
		},
		'clock step': () => {
			const { scheduler } = this.world;
			const { process } = this;
			if (process) process.clockOffsetMs += (scheduler.random.next() - 0.5) * 120_000;
		},
		pause: () => {
			const { scheduler } = this.world;
			if (this.process) this.process.pausedUntil = scheduler.now + scheduler.latency(10, 40_000);
		},
	};

	heal(): void {
		Object.assign(this.disk.faults, { failedCommit: 0, slowest: 3, fullUntil: 0 });
		if (this.process) this.process.pausedUntil = 0;
	}

	loseVolatileState(): void {}

	/** The embedded engine answers only with what is on disk. */
	isDurable(): boolean {
		return true;
	}

	isUp(): boolean {
		return this.world.network.reaches(NAME);
	}

	save(): Image {
		return this.disk.image();
	}

	restore(image: Image): void {
		this.disk.restore(image);
	}

	close(): void {
		this.disk.close();
	}
}
