import type { Fact, ReadFact } from '../engine/ports/facts.ts';
import type { LogSpan, MarkLog } from '../engine/ports/log.ts';
import type { PartitionLedger } from '../engine/ports/store.ts';
import { leading } from '../model/leading.ts';
import type { Effect } from '../sequencer/effects.ts';
import type { Backlog } from './backlog.ts';
import { bytesOf, rowsOf } from './weight.ts';

/**
 * Writes what was decided of one partition, after everybody has heard of it: the log has it already, and whoever
 * takes over goes on from the offset that was written with it.
 *
 * One transaction at a time, in order. It takes up to `MOST_ROWS` of what has gathered since the one before, and begins
 * a moment after the first of them. What one command did is never divided, however many rows it is: who replays it must
 * find all of it or nothing. When one fails, everything behind it is void.
 */

const GATHER_MS = 10;
const MOST_ROWS = 1_000;
/** Long texts count as several rows: a transaction is of some megabytes at most. */
const ROW_BYTES = 4_096;
/** Of an entry of the log, whatever came of it, and of a cursor that moved. */
const ENTRY_BYTES = 256;

export interface PersistenceParts {
	readonly ledger: PartitionLedger;
	/** Where cursors go that moved with a message: what users do to their own state has one way to the store. */
	readonly marks: Pick<MarkLog, 'append'>;
	readonly backlog: Backlog;
	/** Everything of these conversations up to these stamps is in the store. */
	readonly onWritten: (stamps: ReadonlyMap<string, number>) => void;
	/** What was decided is not what the store has: the partition is to be begun anew. */
	readonly onFailed: (error: unknown) => void;
	readonly nowMs: () => number;
	readonly sleep: (ms: number) => Promise<void>;
}

/** What a part of the log came to, mostly one command. */
export interface Decided {
	readonly span: LogSpan;
	readonly effects: readonly Effect[];
	readonly moved: readonly ReadFact[];
}

interface Waiting extends Decided {
	readonly since: number;
	readonly bytes: number;
	readonly rows: number;
}

export class TrailingPersistence {
	private waiting: Waiting[] = [];
	private writing: Promise<void> | null = null;
	private failed = false;
	/** Newest stamps of conversations with something that is not written yet. */
	private readonly unwritten = new Map<string, number>();
	private readonly written = new Map<string, number>();

	/** Up to where this owner has handed the log's entries to the store; null before the first. */
	private handedOver: number | null = null;

	constructor(private readonly parts: PersistenceParts) {}

	/** Whether the store is further than this owner has brought it: another owns the partition now. */
	isOvertakenAt(offset: number): boolean {
		return this.handedOver !== null && offset > this.handedOver;
	}

	/** This owner begins here. */
	beginsAt(offset: number): void {
		this.handedOver = offset;
	}

	/** The span of each begins where that of the one before ends. */
	take(decided: readonly Decided[]): void {
		if (this.failed) throw new Error('the partition is being begun anew');
		const since = this.parts.nowMs();
		for (const one of decided) {
			const bytes = one.effects.reduce(
				(sum, effect) => sum + bytesOf(effect),
				ENTRY_BYTES * (1 + one.moved.length),
			);
			const rows = one.effects.reduce((sum, effect) => sum + rowsOf(effect), 0);
			this.waiting.push({ ...one, since, bytes, rows: Math.max(rows, Math.floor(bytes / ROW_BYTES)) });
			this.parts.backlog.add(bytes);
			for (const { conversation, at } of one.effects) this.unwritten.set(conversation.id, at);
		}
		this.writing ??= this.writeAll();
	}

	/** Everything of the conversation up to this stamp is in the store. */
	durable(conversation: string): number {
		return this.unwritten.has(conversation)
			? (this.written.get(conversation) ?? 0)
			: Number.POSITIVE_INFINITY;
	}

	/** How long the oldest of what is not written has been waiting; ms. */
	lagMs(): number {
		const [oldest] = this.waiting;
		return oldest ? this.parts.nowMs() - oldest.since : 0;
	}

	/** Resolves when everything handed over is written, or void. */
	async flushed(): Promise<void> {
		while (this.writing) await this.writing;
	}

	private async writeAll(): Promise<void> {
		try {
			await this.parts.sleep(GATHER_MS);
			while (this.waiting.length > 0) await this.writeSome();
		} catch (error) {
			this.failed = true;
			this.leave(this.waiting.length);
			this.parts.onFailed(error);
		} finally {
			this.writing = null;
		}
	}

	private async writeSome(): Promise<void> {
		const some = leading(this.waiting, ({ rows }) => rows, MOST_ROWS);
		const moved = some.flatMap((one) => one.moved);
		if (moved.length > 0) await this.parts.marks.append(moved);
		const effects: Effect[] = some.flatMap((one) => one.effects);
		const [first, last] = [some[0], some.at(-1)];
		if (!first || !last) return;
		this.handedOver = last.span.to;
		await this.parts.ledger.commitWithProgress(effects satisfies Fact[], {
			...first.span,
			to: last.span.to,
		});
		this.leave(some.length);
		this.parts.onWritten(new Map(effects.map(({ conversation, at }) => [conversation.id, at])));
		for (const { conversation, at } of effects) {
			if (this.unwritten.get(conversation.id) === at) {
				this.unwritten.delete(conversation.id);
				this.written.delete(conversation.id);
			} else if (this.unwritten.has(conversation.id)) this.written.set(conversation.id, at);
		}
	}

	/** The first of those that wait do so no longer. */
	private leave(count: number): void {
		for (const { bytes } of this.waiting.splice(0, count)) this.parts.backlog.remove(bytes);
	}
}
