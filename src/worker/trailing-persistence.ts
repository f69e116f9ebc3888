import type { Fact, ReadFact } from '../engine/ports/facts.ts';
import type { LogSpan } from '../engine/ports/log.ts';
import type { Ledger, PartitionLedger } from '../engine/ports/store.ts';
import { Rejection } from '../model/errors.ts';
import { inTimeline, type Message } from '../model/message.ts';
import type { Effect } from '../sequencer/effects.ts';
import type { Backlog } from './backlog.ts';
import { heapBytesOf, rowsOf } from './weight.ts';

/**
 * Persists the effects of one partition after they were published. The log has the commands, and a new owner resumes
 * from the offset that is written with the effects.
 *
 * Each log record reserves its place in log order, and fills it when it is decided, which can be in another order. A transaction ends before
 * the first reservation that is not filled. One transaction runs at a time; it starts `GATHER_MS` after the first waiting record and takes up to
 * `MAX_ROWS`, but never splits the effects of one command: a replay must find all of them or none. If a
 * transaction fails, everything behind it is dropped.
 */

const GATHER_MS = 10;
/** Under load, transactions start at least this far apart, unless `MAX_ROWS` log records wait: a transaction costs more than the rows in it. */
const PACE_MS = 40;
const MAX_ROWS = 1_000;
const RETRY_MS = 1_000;
/** Long texts count as several rows, so that a transaction has a few megabytes at most. */
const ROW_BYTES = 4_096;
/** With more stored stamps than this, a partition forgets them all: until the next transactions, less is trimmed and evicted. */
const MAX_STORED_STAMPS = 4_000;
/** Memory of a record of the log without its effects, and of a moved cursor. */
const RECORD_BYTES = 256;

export interface PersistenceParts {
	readonly ledger: PartitionLedger;
	/** Persists cursors that a message moved, in the same way as cursors that users move. */
	readonly cursorLedger: Pick<Ledger, 'commit'>;
	readonly backlog: Backlog;
	/** Called after a transaction. */
	readonly onPersisted: () => void;
	/** Called before a transaction that persists everything below this offset; the transaction waits for the promise. */
	readonly beforePersist?: (offset: number) => Promise<void>;
	/** Persisting failed, so the decisions in memory are invalid: the partition has to be restarted. */
	readonly onFailed: (error: unknown) => void;
	readonly steadyMs: () => number;
	readonly sleep: (ms: number) => Promise<void>;
}

/** The effects of one log record. */
export interface DecidedRecord {
	readonly effects: readonly Effect[];
	readonly moved: readonly ReadFact[];
	/** The effects could not be applied: the store moves the cursors of authors. */
	readonly isUnapplied?: boolean;
}

/** Reserves the place of a record of the log in the order of persistence. */
export interface Reservation {
	/** Sets the effects of the record. Throws if the partition is being restarted; nothing is written then. */
	fill(decided: DecidedRecord): void;
}

interface Waiting {
	readonly span: LogSpan;
	readonly since: number;
	bytes: number;
	rows: number;
	/** Null: not decided yet. */
	decided: DecidedRecord | null;
}

export class TrailingPersistence {
	private waiting: Waiting[] = [];
	private readonly movedLater: ReadFact[] = [];
	private writing: Promise<void> | null = null;
	private failed = false;
	/** Newest stamps of conversations with effects that are not durable yet. */
	private readonly unwritten = new Map<string, number>();
	/** By conversation: the newest stamp that the store has from this owner. */
	private readonly storedStamps = new Map<string, number>();

	/** The offset up to which this owner has sent records to the store; null before `beginsAt`. */
	private sentTo: number | null = null;
	/** The offset up to which the store has confirmed them. */
	private storedOffset = 0;

	constructor(private readonly parts: PersistenceParts) {}

	/** Whether the store is ahead of this owner, which means that another worker owns the partition. */
	isOvertakenAt(offset: number): boolean {
		return this.sentTo !== null && offset > this.sentTo;
	}

	/** The store has confirmed everything below this offset. If the store later returns an earlier offset, it lost transactions. */
	get storedTo(): number {
		return this.storedOffset;
	}

	/** Sets the offset at which this owner starts. */
	beginsAt(offset: number): void {
		this.sentTo = offset;
		this.storedOffset = offset;
	}

	/** Each span must begin where the previous one ends. */
	reserve(spans: readonly LogSpan[]): Reservation[] {
		if (this.failed) throw new Error('the partition is being restarted');
		const since = this.parts.steadyMs();
		return spans.map((span) => {
			const record: Waiting = { span, since, bytes: RECORD_BYTES, rows: 0, decided: null };
			this.waiting.push(record);
			this.parts.backlog.add(record.bytes);
			return { fill: (decided) => this.fill(record, decided) };
		});
	}

	/** Adds cursors that were moved by effects already persisted. */
	takeMoved(moved: readonly ReadFact[]): void {
		if (moved.length === 0) return;
		this.movedLater.push(...moved);
		this.write();
	}

	private fill(record: Waiting, decided: DecidedRecord): void {
		if (this.failed) throw new Error('the partition is being restarted');
		const { effects, moved } = decided;
		const bytes = effects.reduce((sum, effect) => sum + heapBytesOf(effect), RECORD_BYTES * moved.length);
		const rows = effects.reduce((sum, effect) => sum + rowsOf(effect), 0);
		record.decided = decided;
		record.bytes += bytes;
		record.rows = Math.max(rows, Math.floor(record.bytes / ROW_BYTES));
		this.parts.backlog.add(bytes);
		for (const { conversation, at } of effects) this.unwritten.set(conversation.id, at);
		this.write();
	}

	private write(): void {
		if (this.hasWork) this.writing ??= this.writeAll();
	}

	private get hasWork(): boolean {
		return this.movedLater.length > 0 || (this.waiting[0]?.decided ?? null) !== null;
	}

	/** The stamp up to which the filled records of the conversation are durable. */
	durable(conversation: string): number {
		return this.unwritten.has(conversation) ? this.storedStamp(conversation) : Number.POSITIVE_INFINITY;
	}

	/** The store has all effects on the conversation up to this stamp; 0 if unknown. */
	storedStamp(conversation: string): number {
		return this.storedStamps.get(conversation) ?? 0;
	}

	/** How long the oldest record has been waiting to be persisted, in ms. */
	lagMs(): number {
		const [oldest] = this.waiting;
		return oldest ? this.parts.steadyMs() - oldest.since : 0;
	}

	/** Resolves when everything before the first undecided record is durable, or was dropped by a failure. */
	async flushed(): Promise<void> {
		while (this.writing) await this.writing;
	}

	/** Call it when the partition is released: drops what cannot be written any more, because a record before it was never decided. */
	dropRest(): void {
		this.removeFirst(this.waiting.length);
	}

	private async writeAll(): Promise<void> {
		try {
			const { steadyMs, sleep } = this.parts;
			for (let pause = GATHER_MS; this.hasWork; ) {
				await sleep(pause);
				const began = steadyMs();
				await this.writeSome();
				const isFull = this.waiting.length >= MAX_ROWS;
				pause = isFull ? 0 : Math.max(0, PACE_MS - (steadyMs() - began));
			}
		} catch (error) {
			this.failed = true;
			this.dropRest();
			this.parts.onFailed(error);
		} finally {
			this.writing = null;
		}
	}

	private async writeSome(): Promise<void> {
		const batch = this.nextBatch();
		const moved = newestOf([
			...this.movedLater.splice(0),
			...batch.flatMap(({ decided }) => decided?.moved ?? []),
		]);
		if (moved.length > 0) await this.writeMoved(moved);
		const effects: Effect[] = batch.flatMap(({ decided }) => decided?.effects ?? []);
		const [first, last] = [batch[0], batch.at(-1)];
		if (!first || !last) return;
		this.sentTo = last.span.to;
		await this.parts.beforePersist?.(last.span.to);
		const facts: Fact[] = batch.flatMap(({ decided }) => (decided ? factsOf(decided) : []));
		await this.parts.ledger.commitWithProgress(facts, {
			...first.span,
			to: last.span.to,
		});
		this.storedOffset = last.span.to;
		this.removeFirst(batch.length);
		if (this.storedStamps.size > MAX_STORED_STAMPS) this.storedStamps.clear();
		for (const { conversation, at } of effects) {
			this.storedStamps.set(conversation.id, at);
			if (this.unwritten.get(conversation.id) === at) this.unwritten.delete(conversation.id);
		}
		this.parts.onPersisted();
	}

	/**
	 * Retries while neither the log nor the store accepts the cursors: the posts that moved them may be acknowledged, so `halt` must wait
	 * for the cursors. If a rejected attempt succeeds later after all, they are written twice, which changes nothing.
	 */
	private async writeMoved(moved: readonly ReadFact[]): Promise<void> {
		for (;;) {
			try {
				await this.parts.cursorLedger.commit(moved);
				return;
			} catch (error) {
				if (!(error instanceof Rejection)) throw error;
				await this.parts.sleep(RETRY_MS);
			}
		}
	}

	/** The next decided records that fit into one transaction; at least one, if the first record is decided. */
	private nextBatch(): readonly Waiting[] {
		let rows = 0;
		const end = this.waiting.findIndex((record, index) => {
			rows += record.rows;
			return record.decided === null || (index > 0 && rows > MAX_ROWS);
		});
		return this.waiting.slice(0, end < 0 ? undefined : end);
	}

	private removeFirst(count: number): void {
		for (const { bytes } of this.waiting.splice(0, count)) this.parts.backlog.remove(bytes);
	}
}

/**
 * Writes each `own_post` directly after its message and before any later fact: the store decides from the messages written so far
 * whether the author was caught up.
 */
const factsOf = ({ effects, isUnapplied }: DecidedRecord): readonly Fact[] =>
	isUnapplied
		? effects.flatMap((effect): Fact[] =>
				effect.type === 'posted' ? [effect, ownPost(effect.message)] : [effect],
			)
		: effects;

const ownPost = (message: Message): ReadFact => {
	const { user, conversation, ts, threadTs } = message;
	return { type: 'own_post', user, conversation, at: ts, inTimeline: inTimeline(message), threadTs };
};

/** A fact holds the whole state of its subject, so the newest fact per subject is enough. */
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
