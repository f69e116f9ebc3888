import type { LogSpan, PartitionOwner } from '../../../src/engine/ports/log.ts';
import type { Process } from '../scheduler.ts';
import type { Group } from './group.ts';
import type { SimulatedLog } from './log.ts';

/**
 * Consumes the partitions of a topic that the process believes it owns. Batches of one partition run one after the other; if a batch fails,
 * the partition is restarted from the offset in the store.
 */

export type Handle = (values: readonly Buffer[], span: LogSpan) => Promise<void>;

const HEARTBEAT_MS = 600;
const RESTART_MS = 500;

interface Reader {
	stopped: boolean;
	/** Resolves when no batch is running. */
	running: Promise<void>;
}

export class Member {
	private readonly readers = new Map<string, Reader>();
	private readonly releasing = new Map<string, Promise<void>>();
	private assigned: ReadonlySet<string> = new Set();
	private notified: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly log: SimulatedLog,
		private readonly group: Group,
		private readonly process: Process,
		private readonly owner: PartitionOwner,
		private readonly handle: Handle,
		private readonly report: (error: unknown, about: string) => void,
	) {}

	start(): void {
		void this.log.ask(this.process, () => this.group.join(this.process));
		setInterval(() => void this.beat(), HEARTBEAT_MS);
	}

	restart(partition: string): void {
		void this.release(partition);
	}

	private async beat(): Promise<void> {
		const held = new Set(this.readers.keys());
		const { isKnown, partitions } = await this.log.ask(this.process, () =>
			this.group.heartbeat(this.process, held),
		);
		this.assigned = new Set(isKnown ? partitions : []);
		if (!isKnown) await this.log.ask(this.process, () => this.group.join(this.process));
		for (const partition of this.readers.keys())
			if (!this.assigned.has(partition)) void this.release(partition);
		for (const partition of this.assigned) if (!this.readers.has(partition)) void this.begin(partition);
	}

	private async begin(partition: string): Promise<void> {
		const { scheduler } = this.log;
		const reader: Reader = { stopped: false, running: Promise.resolve() };
		this.readers.set(partition, reader);
		scheduler.note(`takes ${partition}`);
		scheduler.reached(`took a partition of ${partition.split('/')[0]}`);
		await this.notifyOwner(() => this.owner.onAssigned?.([partition]));
		reader.running = this.read(partition, reader);
	}

	private async read(partition: string, reader: Reader): Promise<void> {
		try {
			await this.owner.logId?.(partition);
			let from = await this.owner.progress(partition);
			while (!reader.stopped) {
				const values = await this.log.fetch(this.process, partition, from);
				if (reader.stopped) return;
				const some = values.slice(0, 1 + this.log.scheduler.random.below(8));
				if (some.length === 0) continue;
				await this.handle(some, { partition, from, to: from + some.length });
				from += some.length;
			}
		} catch (error) {
			if (reader.stopped) return;
			this.report(error, `consuming ${partition}`);
			setTimeout(() => {
				if (this.readers.get(partition) === reader) void this.release(partition);
			}, RESTART_MS);
		}
	}

	private release(partition: string): Promise<void> {
		const known = this.releasing.get(partition);
		if (known) return known;
		const reader = this.readers.get(partition);
		if (!reader) return Promise.resolve();
		const done = this.stopReader(partition, reader);
		this.releasing.set(partition, done);
		return done;
	}

	private async stopReader(partition: string, reader: Reader): Promise<void> {
		this.log.scheduler.note(`gives up ${partition}`);
		this.owner.onReleasing?.([partition]);
		reader.stopped = true;
		await reader.running;
		await this.notifyOwner(() => this.owner.onRevoked?.([partition]));
		this.readers.delete(partition);
		this.releasing.delete(partition);
	}

	/** Calls methods of the owner one after the other. */
	private notifyOwner(what: () => Promise<void> | void | undefined): Promise<unknown> {
		this.notified = this.notified.then(what).catch((error) => this.report(error, 'a rebalance'));
		return this.notified;
	}
}
