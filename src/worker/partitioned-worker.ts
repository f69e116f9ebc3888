import type { Bus } from '../engine/ports/bus.ts';
import type { CommandLog, Consumption, MarkLog } from '../engine/ports/log.ts';
import type { ReadState } from '../engine/ports/read-state.ts';
import type { History, PartitionLedger, StateSource } from '../engine/ports/store.ts';
import { Conversations } from './conversations.ts';
import { ageMs } from './lag.ts';
import { Overtaken, Partition } from './partition.ts';
import { Replies } from './replies.ts';
import { TrailingPersistence } from './trailing-persistence.ts';

/**
 * A worker of a cluster: owns the partitions that the log gives it, each with a state of its own, which begins at
 * the offset that the store has and is forgotten when the partition goes.
 *
 * Modes: *running*, and *halted* by `halt` until `resume`: no command is taken, and everything that was decided is
 * written. That is what a read state that was lost is restored in.
 */

export interface PartitionedWorkerParts {
	readonly log: CommandLog;
	readonly marks: MarkLog;
	readonly ledger: PartitionLedger;
	readonly source: StateSource;
	readonly history: History;
	readonly readState: ReadState;
	readonly bus: Bus;
	readonly nowMs: () => number;
	readonly report: (error: unknown, about: string) => void;
}

interface Owned {
	readonly partition: Partition;
	readonly persistence: TrailingPersistence;
	readonly conversations: Conversations;
}

export class PartitionedWorker {
	private readonly owned = new Map<string, Owned>();
	private readonly replies: Replies;
	private consumption: Consumption | undefined;
	private halted: PromiseWithResolvers<void> | null = null;
	private stopping = false;
	private lag = 0;
	/** Batches that are being done. */
	private readonly underWay = new Set<Promise<void>>();

	constructor(private readonly parts: PartitionedWorkerParts) {
		this.replies = new Replies(parts.bus, parts.report);
	}

	start(): void {
		const { log, marks, ledger } = this.parts;
		this.consumption = log.consume(
			async (batch, span) => {
				while (this.halted && !this.stopping) await this.halted.promise;
				if (this.stopping) throw new Error('the worker is stopping');
				this.lag = ageMs(batch);
				const done = this.own(span.partition).partition.process(batch, span);
				this.underWay.add(done);
				await done.finally(() => this.underWay.delete(done));
			},
			{
				progress: async (partition) => {
					const offset = await ledger.nextOffset(partition);
					this.own(partition).persistence.beginsAt(offset);
					return offset;
				},
				onAssigned: (partitions) => {
					for (const partition of partitions) this.own(partition);
				},
				onReleasing: (partitions) => {
					for (const partition of partitions) this.owned.get(partition)?.partition.interrupt(true);
				},
				onRevoked: (partitions) => this.release(partitions),
			},
		);
		marks.consume({
			progress: (partition) => ledger.nextOffset(partition),
			persist: (facts, span) => ledger.commitWithProgress(facts, span),
		});
	}

	/** Resolves when nothing is being decided any more and the store has everything that was. */
	async halt(): Promise<void> {
		this.halted ??= Promise.withResolvers();
		for (const { partition } of this.owned.values()) partition.interrupt(true);
		await Promise.allSettled(this.underWay);
		await this.flushed();
	}

	resume(): void {
		for (const { partition } of this.owned.values()) partition.interrupt(false);
		this.halted?.resolve();
		this.halted = null;
	}

	/** For good: what cannot be written soon is left to the next owner. */
	async stop(withinMs: number): Promise<void> {
		await Promise.race([this.halt(), Bun.sleep(withinMs)]);
		this.stopping = true;
		this.halted?.resolve();
		for (const { partition } of this.owned.values()) partition.end();
	}

	/** Forgets conversations not used since `before` (ms), but for those with something that is not written yet. */
	evict(before: number): void {
		for (const { conversations, persistence } of this.owned.values())
			conversations.evict(before, (id) => persistence.durable(id) === Number.POSITIVE_INFINITY);
	}

	get partitions(): number {
		return this.owned.size;
	}

	/** Age of the newest command when it was decided; ms. */
	lagMs(): number {
		return this.lag;
	}

	/** How long the oldest of what is not written has been waiting; ms. */
	unwrittenMs(): number {
		return Math.max(0, ...[...this.owned.values()].map(({ persistence }) => persistence.lagMs()));
	}

	private async flushed(): Promise<void> {
		await Promise.all([...this.owned.values()].map(({ persistence }) => persistence.flushed()));
	}

	private own(name: string): Owned {
		const known = this.owned.get(name);
		if (known) return known;
		const { ledger, marks, source, history, readState, bus, nowMs, report } = this.parts;
		const persistence = new TrailingPersistence({
			ledger,
			marks,
			nowMs,
			onWritten: (stamps) => {
				for (const [conversation, stamp] of stamps)
					readState
						.written?.(conversation, stamp)
						.catch((error) => report(error, `trimming ${conversation}`));
			},
			onFailed: (error) => {
				report(error, `writing what was decided of ${name}`);
				this.consumption?.restart(name);
			},
		});
		// A worker that was paused finds messages in the store that it has yet to decide about.
		const conversations = new Conversations(source, history, nowMs, async () => {
			if (persistence.isOvertakenAt(await ledger.nextOffset(name))) throw new Overtaken();
		});
		const { replies } = this;
		const owned = {
			partition: new Partition({ conversations, persistence, readState, bus, replies, report }),
			persistence,
			conversations,
		};
		this.owned.set(name, owned);
		return owned;
	}

	private async release(partitions: readonly string[]): Promise<void> {
		await Promise.all(
			partitions.map(async (name) => {
				const owned = this.owned.get(name);
				owned?.partition.end();
				await owned?.persistence.flushed();
				this.owned.delete(name);
			}),
		);
	}
}
