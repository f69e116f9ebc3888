import type { Bus } from '../engine/ports/bus.ts';
import type { DeliveryRecord } from '../engine/ports/delivery-record.ts';
import type { CommandLog, Consumption, LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { History, Ledger, PartitionLedger, StateSource } from '../engine/ports/store.ts';
import type { ReadState } from '../unread/read-state.ts';
import { Backlog } from './backlog.ts';
import { Conversations } from './conversations.ts';
import { Ownership } from './ownership.ts';
import { Partition } from './partition.ts';
import { Overtaken, PersistBehind } from './persist-behind.ts';
import { Replies } from './replies.ts';
import { TrailingPersistence } from './trailing-persistence.ts';

/**
 * A worker of a cluster: owns the partitions that the log gives it, each with a state of its own, which begins at
 * the offset that the store has and is forgotten when the partition goes.
 *
 *     halted     at the start, and from `halt` on: no command is taken, and everything that was decided is written. That is what
 *                a read state that was lost is restored in
 *     running    from `resume` on
 *     stopping   from `stop` on, for good
 */

export interface PartitionedWorkerParts {
	readonly log: CommandLog;
	/**
	 * Where cursors become durable that moved with a message. While the log is down it must not wait for it: what was decided would
	 * not be written, and be missing where the read state has to be restored.
	 */
	readonly moved: Pick<Ledger, 'commit'>;
	readonly ledger: PartitionLedger;
	readonly source: StateSource;
	readonly history: History;
	readonly readState: ReadState;
	readonly bus: Bus;
	readonly deliveries: DeliveryRecord;
	readonly nowMs: () => number;
	readonly sleep: (ms: number) => Promise<void>;
	readonly report: (error: unknown, about: string) => void;
}

/** A quarter of a gigabyte: what a worker needs besides is less than a container of one or two gives it. */
const MOST_UNWRITTEN_BYTES = 256 * 1024 * 1024;

const RESTART_MS = 500;
const LONGEST_RESTART_MS = 120_000;

interface Owned {
	readonly partition: Partition;
	readonly order: PersistBehind;
	readonly persistence: TrailingPersistence;
	readonly ownership: Ownership;
	/** Where the store had got to when it became this worker's. */
	stored: number;
}

export class PartitionedWorker {
	private readonly owned = new Map<string, Owned>();
	private readonly replies: Replies;
	private consumption: Consumption | undefined;
	private halted: PromiseWithResolvers<void> | null = Promise.withResolvers();
	private stopping = false;
	/** The one that took a batch last. */
	private latest: Partition | undefined;
	private assigned = 0;
	private resumes = 0;
	/** Of each partition, how often in a row it had to be begun again because it could not be written. */
	private readonly failures = new Map<string, number>();
	/** While such a partition waits: nothing of it is decided before that, however often it is begun again. */
	private readonly pauses = new Map<string, Promise<void>>();
	private readonly backlog = new Backlog(MOST_UNWRITTEN_BYTES);

	constructor(private readonly parts: PartitionedWorkerParts) {
		this.replies = new Replies(parts.bus, parts.report);
	}

	start(): void {
		const { log, ledger } = this.parts;
		this.consumption = log.consume((batch, span) => this.process(batch, span), {
			progress: async (partition) => {
				const owned = this.owned.get(partition);
				const offset = await ledger.nextOffset(partition);
				// It may have been revoked meanwhile: claiming it would stop its new owner.
				if (!owned || owned.order.isLeaving) throw new Error('the partition is being reassigned');
				owned.persistence.beginsAt(offset);
				owned.stored = offset;
				void this.claimed(owned).catch(() => undefined);
				return offset;
			},
			log: (partition) => ledger.logOf(partition),
			onAssigned: (partitions) => {
				this.assigned += partitions.length;
				for (const partition of partitions) this.own(partition);
			},
			onReleasing: (partitions) => {
				for (const name of partitions) {
					const owned = this.owned.get(name);
					owned?.order.leave();
					owned?.ownership.end();
				}
			},
			onRevoked: (partitions) => this.release(partitions),
		});
	}

	/** Resolves when nothing is being decided any more and the store has everything that was. */
	async halt(): Promise<void> {
		this.halted ??= Promise.withResolvers();
		for (const { order, ownership } of this.owned.values()) {
			ownership.fallBehind();
			order.drain(true);
		}
		await this.settled();
	}

	/** The read state is whole. */
	resume(): void {
		if (!this.halted || this.stopping) return;
		for (const { order } of this.owned.values()) order.drain(false);
		this.halted.resolve();
		this.halted = null;
		this.resumes += 1;
		for (const owned of this.owned.values()) void this.catchUp(owned, this.resumes);
	}

	/** For good: what cannot be done and written soon is left to the next owner. */
	async stop(withinMs: number): Promise<void> {
		this.stopping = true;
		for (const { order, ownership } of this.owned.values()) {
			order.leave();
			ownership.end();
		}
		this.halted?.resolve();
		await Promise.race([this.settled(), this.parts.sleep(withinMs)]);
		for (const { order } of this.owned.values()) order.end();
	}

	/** Forgets conversations not used since `before` (ms), but for those with something that is not written yet. */
	evict(before: number): void {
		for (const { partition } of this.owned.values()) partition.evict(before);
	}

	/** Without those that are being released, which may take until the store is in reach. */
	get partitions(): number {
		return [...this.owned.values()].filter(({ order }) => !order.isLeaving).length;
	}

	/** Partitions that were assigned since the start: it rises while they move, or have to be begun again. */
	get assignments(): number {
		return this.assigned;
	}

	/** Age of the newest command when it was decided; ms. */
	lagMs(): number {
		return this.latest?.lagMs() ?? 0;
	}

	/** How long the oldest of what is not written has been waiting; ms. */
	unwrittenMs(): number {
		return Math.max(0, ...[...this.owned.values()].map(({ persistence }) => persistence.lagMs()));
	}

	private async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const owned = this.own(span.partition);
		const { partition, order } = owned;
		await this.claimed(owned);
		// A worker that is halted meanwhile must see either no lane of the batch or all of them: nothing is awaited
		// between the last look at the obstacles and `partition.process`.
		for (;;) {
			if (this.stopping || order.isLeaving) throw new Error('the partition is being reassigned');
			const obstacle = this.pauses.get(span.partition) ?? this.obstacleOf(partition);
			if (!obstacle) break;
			await Promise.race([obstacle, order.toBeLeft]);
		}
		this.latest = partition;
		await partition.process(batch, span);
	}

	/** Resolves when the read state is whole. */
	private async readStateComplete(): Promise<void> {
		while (this.halted && !this.stopping) await this.halted.promise;
		if (this.stopping) throw new Error('the worker is stopping');
	}

	/** Redis may be emptied at any moment, but is not asked while it is being restored. */
	private async claimed({ order, ownership, stored }: Owned): Promise<void> {
		while (this.halted && !this.stopping && !order.isLeaving)
			await Promise.race([this.halted.promise, order.toBeLeft]);
		if (this.stopping || order.isLeaving) throw new Error('the partition is being reassigned');
		await Promise.race([ownership.claim(stored), order.toBeLeft]);
		if (order.isLeaving) throw new Error('the partition is being reassigned');
	}

	/** What was stored while the read state was lost is published from now on; once all of it is, that is recorded. */
	private async catchUp({ partition, ownership }: Owned, resumes: number): Promise<void> {
		const isPublished = await partition.finished();
		if (isPublished && this.resumes === resumes && !this.halted) ownership.caughtUp();
	}

	/** What a batch has to wait for before it may begin; null: nothing. */
	private obstacleOf(partition: Partition): Promise<void> | null {
		return this.halted?.promise ?? this.backlog.room() ?? partition.room();
	}

	private async settled(): Promise<void> {
		const owned = [...this.owned.values()];
		await Promise.all(owned.flatMap(({ partition, order }) => [partition.settled(), order.settled()]));
		await Promise.all(owned.map(({ persistence }) => persistence.flushed()));
	}

	private own(name: string): Owned {
		const known = this.owned.get(name);
		if (known) return known;
		const { ledger, moved, source, history, readState, bus, nowMs, sleep, report } = this.parts;
		const ownership = new Ownership({
			partition: name,
			record: this.parts.deliveries,
			bus,
			onOvertaken: () => {
				report(new Overtaken(), `publishing what was decided of ${name}`);
				this.consumption?.restart(name);
			},
			sleep,
			report,
		});
		const persistence = new TrailingPersistence({
			ledger,
			moved,
			onWriting: (offset) => ownership.storing(offset),
			backlog: this.backlog,
			nowMs,
			sleep,
			onWritten: (stamps) => {
				this.failures.delete(name);
				for (const [conversation, stamp] of stamps)
					readState.written(conversation, stamp).catch((error) => report(error, `trimming ${conversation}`));
			},
			onFailed: async (error) => {
				report(error, `writing what was decided of ${name}`);
				await this.pause(name);
				if (this.owned.get(name) === owned) this.consumption?.restart(name);
			},
		});
		// A worker that was paused finds messages in the store that it has yet to decide about.
		const conversations = new Conversations(source, history, nowMs, async () => {
			if (persistence.isOvertakenAt(await ledger.nextOffset(name))) throw new Overtaken();
		});
		const { replies } = this;
		const order = new PersistBehind({
			persistence,
			readState,
			bus: ownership,
			replies,
			readStateComplete: () => this.readStateComplete(),
			sleep,
			report,
		});
		const partition = new Partition({
			conversations,
			readState,
			order,
			onFailed: async (error) => {
				if (order.isLeaving || order.isEnded) return;
				report(error, `deciding about commands of ${name}`);
				await sleep(RESTART_MS);
				if (this.owned.get(name) === owned) this.consumption?.restart(name);
			},
			nowMs,
			report,
		});
		const owned: Owned = { partition, order, persistence, ownership, stored: 0 };
		this.owned.set(name, owned);
		return owned;
	}

	/** What PostgreSQL refuses is decided and delivered again each time: soon at first, then seldom. */
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
				owned?.order.end();
				await owned?.persistence.flushed();
				await owned?.ownership.settled();
				this.owned.delete(name);
			}),
		);
	}
}
