import type { Fact, ReadFact } from '../engine/ports/facts.ts';
import type { LogSpan } from '../engine/ports/log.ts';
import type { Ledger, PartitionLedger } from '../engine/ports/store.ts';
import type { Effect } from '../sequencer/effects.ts';
import type { Backlog } from './backlog.ts';
import { bytesOf, rowsOf } from './weight.ts';

/**
 * Persists what was decided of one partition, after it was published: the log has it already, and a worker that
 * takes over goes on from the offset that was written with it.
 *
 * Entries of the log get their places in order, and are filled as they are decided, which may be in another one; what is written ends
 * before the first that is not filled. One transaction at a time. It takes up to `MOST_ROWS` of what has gathered since the one before, and begins
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
	/** Where cursors become durable that moved with a message: as those do that users move. */
	readonly moved: Pick<Ledger, 'commit'>;
	readonly backlog: Backlog;
	/** Everything of these conversations up to these stamps is in the store. */
	readonly onWritten: (stamps: ReadonlyMap<string, number>) => void;
	/** Everything below this offset is written when this resolves. */
	readonly onWriting?: (offset: number) => Promise<void>;
	/** The decisions differ from the store: the partition has to be restarted. */
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

/** The place of an entry of the log among what is to be written. */
export interface Slot {
	/** What it came to. Throws where the partition is being begun again: then nothing of it is written here. */
	fill(effects: readonly Effect[], moved: readonly ReadFact[]): void;
}

interface Waiting {
	readonly span: LogSpan;
	readonly since: number;
	bytes: number;
	rows: number;
	/** Null: not decided yet. */
	decided: Pick<Decided, 'effects' | 'moved'> | null;
}

export class TrailingPersistence {
	private waiting: Waiting[] = [];
	private readonly movedLater: ReadFact[] = [];
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
	reserve(spans: readonly LogSpan[]): Slot[] {
		if (this.failed) throw new Error('the partition is being begun again');
		const since = this.parts.nowMs();
		return spans.map((span) => {
			const place: Waiting = { span, since, bytes: ENTRY_BYTES, rows: 0, decided: null };
			this.waiting.push(place);
			this.parts.backlog.add(place.bytes);
			return { fill: (effects, moved) => this.fill(place, { effects, moved }) };
		});
	}

	/** Entries that are decided already. */
	take(decided: readonly Decided[]): void {
		const slots = this.reserve(decided.map(({ span }) => span));
		for (const [index, { effects, moved }] of decided.entries()) slots[index]?.fill(effects, moved);
	}

	/** Cursors that moved after what moved them was written. */
	takeMoved(moved: readonly ReadFact[]): void {
		if (moved.length === 0) return;
		this.movedLater.push(...moved);
		this.write();
	}

	private fill(place: Waiting, decided: Pick<Decided, 'effects' | 'moved'>): void {
		if (this.failed) throw new Error('the partition is being begun again');
		const { effects, moved } = decided;
		const bytes = effects.reduce((sum, effect) => sum + bytesOf(effect), ENTRY_BYTES * moved.length);
		const rows = effects.reduce((sum, effect) => sum + rowsOf(effect), 0);
		place.decided = decided;
		place.bytes += bytes;
		place.rows = Math.max(rows, Math.floor(place.bytes / ROW_BYTES));
		this.parts.backlog.add(bytes);
		for (const { conversation, at } of effects) this.unwritten.set(conversation.id, at);
		this.write();
	}

	private write(): void {
		if (this.hasSome) this.writing ??= this.writeAll();
	}

	private get hasSome(): boolean {
		return this.movedLater.length > 0 || (this.waiting[0]?.decided ?? null) !== null;
	}

	/** Everything of the conversation up to this stamp is in the store. */
	durable(conversation: string): number {
		return this.unwritten.has(conversation)
			? (this.written.get(conversation) ?? 0)
			: Number.POSITIVE_INFINITY;
	}

	/** How long the oldest of what was taken and is not written has been waiting; ms. */
	lagMs(): number {
		const [oldest] = this.waiting;
		return oldest ? this.parts.nowMs() - oldest.since : 0;
	}

	/** Resolves when everything is written that can be, up to the first that is not decided, or void. */
	async flushed(): Promise<void> {
		while (this.writing) await this.writing;
	}

	private async writeAll(): Promise<void> {
		try {
			await this.parts.sleep(GATHER_MS);
			while (this.hasSome) await this.writeSome();
		} catch (error) {
			this.failed = true;
			this.leave(this.waiting.length);
			this.parts.onFailed(error);
		} finally {
			this.writing = null;
		}
	}

	private async writeSome(): Promise<void> {
		const some = this.some();
		const moved = newestOf([
			...this.movedLater.splice(0),
			...some.flatMap(({ decided }) => decided?.moved ?? []),
		]);
		if (moved.length > 0) await this.parts.moved.commit(moved);
		const effects: Effect[] = some.flatMap(({ decided }) => decided?.effects ?? []);
		const [first, last] = [some[0], some.at(-1)];
		if (!first || !last) return;
		this.handedOver = last.span.to;
		await this.parts.onWriting?.(last.span.to);
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

	/** The next that are decided: as many as make one transaction, one at least. */
	private some(): readonly Waiting[] {
		let rows = 0;
		const end = this.waiting.findIndex((place, index) => {
			rows += place.rows;
			return place.decided === null || (index > 0 && rows > MOST_ROWS);
		});
		return this.waiting.slice(0, end < 0 ? undefined : end);
	}

	/** The first of those that wait do so no longer. */
	private leave(count: number): void {
		for (const { bytes } of this.waiting.splice(0, count)) this.parts.backlog.remove(bytes);
	}
}

/** Each fact says how its subject stands, so of those about the same one the newest is enough. */
function newestOf(facts: readonly ReadFact[]): readonly ReadFact[] {
	if (facts.length < 2) return facts;
	const newest = new Map<string, ReadFact>();
	for (const fact of facts) {
		const subject = subjectOf(fact);
		const known = newest.get(subject);
		if (!known || known.at <= fact.at) newest.set(subject, fact);
	}
	return [...newest.values()];
}

function subjectOf(fact: ReadFact): string {
	switch (fact.type) {
		case 'activity':
			return `activity ${fact.user} ${fact.at}`;
		case 'thread_cursor':
			return `thread_cursor ${fact.user} ${fact.conversation} ${fact.threadTs}`;
		default:
			return `${fact.type} ${fact.user} ${fact.conversation}`;
	}
}
