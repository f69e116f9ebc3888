import type { Bus } from '../engine/ports/bus.ts';
import {
	type CommandLog,
	type Consumption,
	type LoggedCommand,
	type LogSpan,
	Released,
} from '../engine/ports/log.ts';
import type { PublicationRecord } from '../engine/ports/publication-record.ts';
import type { History, Ledger, PartitionLedger, StateSource } from '../engine/ports/store.ts';
import type { Views } from '../engine/ports/views.ts';
import { Backlog } from './backlog.ts';
import { Conversations } from './conversations.ts';
import { Ownership } from './ownership.ts';
import { Partition } from './partition.ts';
import { Overtaken, PersistBehind, RolledBack } from './persist-behind.ts';
import { Replies } from './replies.ts';
import type { StoredPartitions } from './rollback-watch.ts';
import { TrailingPersistence } from './trailing-persistence.ts';

/**
 * A worker of a cluster. It owns the partitions that the log assigns to it. Each partition has its own state, which
 * starts at the offset that the store has reached, and is dropped when the partition is revoked.
 *
 *     halted     at the start, and after `halt`: takes no commands, and persists all decided effects, so that a lost read
 *                state can be reloaded from the store
 *     running    after `resume`
 *     stopping   after `stop`; final
 */

export interface PartitionedWorkerParts {
	readonly log: CommandLog;
	/**
	 * Persists cursors that a message moved. It must not wait for the log while the log is down: otherwise the effects would not be
	 * persisted, and would be missing when the read state is reloaded.
	 */
	readonly cursorLedger: Pick<Ledger, 'commit'>;
	readonly ledger: PartitionLedger;
	readonly source: StateSource;
	readonly history: History;
	readonly views: Pick<Views, 'prepare' | 'apply'>;
	readonly bus: Bus;
	readonly publications: PublicationRecord;
	/** Wall clock: the age of a command is its difference from the clock of a gateway. */
	readonly nowMs: () => number;
	/** Monotonic clock, for durations and for `evict`. */
	readonly steadyMs: () => number;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** 256 MB, so that the worker fits into a container of 1 or 2 GB with its other memory. */
const MAX_UNWRITTEN_BYTES = 256 * 1024 * 1024;

const RESTART_MS = 500;
const LONGEST_RESTART_MS = 120_000;

interface OwnedPartition {
	readonly partition: Partition;
	readonly pipeline: PersistBehind;
	readonly persistence: TrailingPersistence;
	readonly ownership: Ownership;
	/** The offset that the store had reached when this worker got the partition. */
	stored: number;
}

export class PartitionedWorker implements StoredPartitions {
	private readonly owned = new Map<string, OwnedPartition>();
	private readonly replies: Replies;
	private consumption: Consumption | undefined;
	private halted: PromiseWithResolvers<void> | null = Promise.withResolvers();
	private stopping = false;
	/** The partition that took the latest batch. */
	private latest: Partition | undefined;
	private assigned = 0;
	private resumes = 0;
	/** How many times in a row a partition was restarted because persisting failed. */
	private readonly failures = new Map<string, number>();
	/** By partition name: until the pause ends, the partition decides nothing, even if it is restarted again. */
	private readonly pauses = new Map<string, Promise<void>>();
	private readonly backlog = new Backlog(MAX_UNWRITTEN_BYTES);

	constructor(private readonly parts: PartitionedWorkerParts) {
		this.replies = new Replies(parts.bus, parts.report);
	}

	start(): void {
		const { log, ledger } = this.parts;
		this.consumption = log.consume((batch, span) => this.process(batch, span), {
			progress: async (partition) => {
				const owned = this.owned.get(partition);
				const offset = await ledger.nextOffset(partition);
				// The partition may have been revoked in the meantime: claiming it would fence its new owner.
				if (!owned || owned.pipeline.isLeaving) throw new Released();
				owned.persistence.beginsAt(offset);
				owned.stored = offset;
				void this.claim(owned).catch(() => undefined);
				return offset;
			},
			logId: (partition) => ledger.logIdOf(partition),
			onAssigned: (partitions) => {
				this.assigned += partitions.length;
				for (const partition of partitions) this.own(partition);
			},
			onReleasing: (partitions) => {
				for (const name of partitions) {
					const owned = this.owned.get(name);
					owned?.pipeline.leave();
					owned?.ownership.end();
				}
			},
			onRevoked: (partitions) => this.release(partitions),
		});
	}

	/** Resolves when no command is being decided and the store has all effects. */
	async halt(): Promise<void> {
		this.halted ??= Promise.withResolvers();
		for (const { pipeline, ownership } of this.owned.values()) {
			ownership.fallBehind();
			pipeline.drain(true);
		}
		await this.persisted();
	}

	/** The read state is complete. */
	resume(): void {
		if (!this.halted || this.stopping) return;
		for (const { pipeline } of this.owned.values()) pipeline.drain(false);
		this.halted.resolve();
		this.halted = null;
		this.resumes += 1;
		for (const owned of this.owned.values()) void this.catchUp(owned, this.resumes);
	}

	/** Final. Leaves commands that it cannot finish and persist in time to the next owner. */
	async stop(withinMs: number): Promise<void> {
		this.stopping = true;
		for (const { pipeline, ownership } of this.owned.values()) {
			pipeline.leave();
			ownership.end();
		}
		this.halted?.resolve();
		await Promise.race([this.persisted(), this.parts.sleep(withinMs)]);
		for (const { pipeline } of this.owned.values()) pipeline.end();
	}

	/** Evicts conversations that were not used since `before` (of `steadyMs`), if all their effects are durable. */
	evict(before: number): void {
		for (const { partition } of this.owned.values()) partition.evict(before);
	}

	/** Number of owned partitions, without those that are being released: a release may wait until the store is reachable. */
	get partitions(): number {
		return this.kept.length;
	}

	confirmed(): ReadonlyMap<string, number> {
		return new Map(this.kept.map(([name, { persistence }]) => [name, persistence.storedTo]));
	}

	resumeFromStore(partition: string): void {
		this.consumption?.restart(partition);
	}

	/** Partitions assigned since the start: rises while partitions move or are restarted. */
	get assignments(): number {
		return this.assigned;
	}

	/** Age of the newest command when its batch was taken, in ms. */
	lagMs(): number {
		return this.latest?.lagMs() ?? 0;
	}

	/** Age of the oldest log record that is taken and not persisted yet, in ms. */
	unwrittenMs(): number {
		return Math.max(0, ...[...this.owned.values()].map(({ persistence }) => persistence.lagMs()));
	}

	/** The partitions that are not being released. */
	private get kept(): [string, OwnedPartition][] {
		return [...this.owned].filter(([, { pipeline }]) => !pipeline.isLeaving);
	}

	private async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const owned = this.own(span.partition);
		const { partition, pipeline } = owned;
		await this.claim(owned);
		// No await between the last check of the obstacles and `partition.process`: a concurrent `halt` must see either
		// no group of the batch or all of them.
		for (;;) {
			if (this.stopping || pipeline.isLeaving) throw new Released();
			const obstacle = this.pauses.get(span.partition) ?? this.obstacleOf(partition);
			if (!obstacle) break;
			await Promise.race([obstacle, pipeline.untilLeaving]);
		}
		this.latest = partition;
		await partition.process(batch, span);
	}

	/** Resolves when the read state is complete. */
	private async readStateComplete(): Promise<void> {
		while (this.halted && !this.stopping) await this.halted.promise;
		if (this.stopping) throw new Error('the worker is stopping');
	}

	/**
	 * Claims the partition, but not while Redis is being rebuilt: a rebuild of all nodes records the offsets that it reloads. A
	 * claim before that would start another rebuild.
	 */
	private async claim({ pipeline, ownership, stored }: OwnedPartition): Promise<void> {
		while (this.halted && !this.stopping && !pipeline.isLeaving)
			await Promise.race([this.halted.promise, pipeline.untilLeaving]);
		if (this.stopping || pipeline.isLeaving) throw new Released();
		await Promise.race([ownership.claim(stored), pipeline.untilLeaving]);
		if (pipeline.isLeaving) throw new Released();
	}

	/** Waits until the effects that were stored while the read state was lost are published, then records that. */
	private async catchUp({ partition, ownership }: OwnedPartition, resumes: number): Promise<void> {
		const isPublished = await partition.finished();
		if (isPublished && this.resumes === resumes && !this.halted) ownership.caughtUp();
	}

	/** What a batch has to wait for; null: it can start. */
	private obstacleOf(partition: Partition): Promise<void> | null {
		return this.halted?.promise ?? this.backlog.room() ?? partition.room();
	}

	/** Resolves when no command is being decided and the store has all effects. */
	private async persisted(): Promise<void> {
		const owned = [...this.owned.values()];
		await Promise.all(owned.flatMap(({ partition, pipeline }) => [partition.idle(), pipeline.idle()]));
		await Promise.all(owned.map(({ persistence }) => persistence.flushed()));
	}

	private own(name: string): OwnedPartition {
		const known = this.owned.get(name);
		if (known) return known;
		const { views, nowMs, sleep, report } = this.parts;
		const ownership = this.newOwnership(name);
		const persistence = this.newPersistence(name, ownership);
		const pipeline = new PersistBehind({
			persistence,
			views,
			bus: ownership,
			replies: this.replies,
			readStateComplete: () => this.readStateComplete(),
			sleep,
			report,
		});
		const partition = new Partition({
			conversations: this.newConversations(name, persistence),
			views,
			pipeline,
			onFailed: async (error) => {
				if (pipeline.isLeaving || pipeline.isEnded) return;
				report(error, `deciding commands of ${name}`);
				await sleep(RESTART_MS);
				this.restart(name, persistence);
			},
			nowMs,
			report,
		});
		const owned: OwnedPartition = { partition, pipeline, persistence, ownership, stored: 0 };
		this.owned.set(name, owned);
		return owned;
	}

	private newOwnership(name: string): Ownership {
		const { publications, bus, sleep, report } = this.parts;
		return new Ownership({
			partition: name,
			publications,
			bus,
			onOvertaken: () => {
				report(new Overtaken(), `publishing events of ${name}`);
				this.consumption?.restart(name);
			},
			sleep,
			report,
		});
	}

	private newPersistence(name: string, ownership: Ownership): TrailingPersistence {
		const { ledger, cursorLedger, steadyMs, sleep, report } = this.parts;
		const persistence = new TrailingPersistence({
			ledger,
			cursorLedger,
			beforePersist: (offset) => ownership.beforePersist(offset),
			backlog: this.backlog,
			steadyMs,
			sleep,
			onPersisted: () => void this.failures.delete(name),
			onFailed: async (error) => {
				report(error, `persisting effects of ${name}`);
				await this.pause(name);
				this.restart(name, persistence);
			},
		});
		return persistence;
	}

	/**
	 * Loads are checked against the store's offset. After a pause of this process, the store may have messages of a new owner that this
	 * worker has not decided. After a failover of the store, it may lack messages that this worker has stored.
	 */
	private newConversations(name: string, persistence: TrailingPersistence): Conversations {
		const { ledger, source, history, steadyMs } = this.parts;
		return new Conversations(source, history, steadyMs, async () => {
			const { storedTo } = persistence;
			const offset = await ledger.nextOffset(name);
			if (persistence.isOvertakenAt(offset)) throw new Overtaken();
			if (offset < storedTo) throw new RolledBack(storedTo, offset);
		});
	}

	/** Restarts the partition, unless it was revoked or assigned again since the failure. */
	private restart(name: string, failed: TrailingPersistence): void {
		if (this.owned.get(name)?.persistence === failed) this.consumption?.restart(name);
	}

	/** Backs off: each restart decides and publishes the commands again, and PostgreSQL may reject them again. */
	private pause(name: string): Promise<void> {
		const failures = this.failures.get(name) ?? 0;
		this.failures.set(name, failures + 1);
		const ms = Math.min(RESTART_MS * 4 ** failures, LONGEST_RESTART_MS);
		const pause = this.parts.sleep(ms).then(() => {
			if (this.pauses.get(name) === pause) this.pauses.delete(name);
		});
		this.pauses.set(name, pause);
		return pause;
	}

	private async release(partitions: readonly string[]): Promise<void> {
		await Promise.all(
			partitions.map(async (name) => {
				const owned = this.owned.get(name);
				await owned?.partition.finished();
				owned?.pipeline.end();
				await owned?.persistence.flushed();
				owned?.persistence.dropRest();
				await owned?.ownership.idle();
				this.owned.delete(name);
			}),
		);
	}
}
