import { nextTurn } from '../../../model/next-turn.ts';
import type { Entry } from '../../../model/timeline.ts';
import type { EntryRow, Ledger, StateSource } from '../../ports/store.ts';
import type { LoadedConversation } from './loaded.ts';

/**
 * Loads older entries of timelines, as far back as a reader counts.
 *
 * Entries that were read are added only if neither the floor nor anything below it has changed in the meantime;
 * callers check again whether the timeline is loaded far enough.
 */

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 2_048;
/** Conversations per query: delays other work by a few milliseconds. */
const CONVERSATIONS_PER_QUERY = 512;

/** A timeline, and the ts after which its entries are needed. */
export interface LoadTarget {
	readonly conversation: LoadedConversation;
	readonly ts: number;
}

export class TimelineLoader {
	private readonly inProgress = new Map<LoadedConversation, Promise<void>>();
	private readonly turnstile = new Turnstile();

	constructor(
		private readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly entryOf: (row: EntryRow) => Entry,
	) {}

	async loadBackTo(conversation: LoadedConversation, ts: number): Promise<void> {
		const { timeline } = conversation;
		for (let chunk = FIRST_CHUNK; ts < timeline.floor; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			await this.loadChunk(conversation, ts, chunk);
			// Large chunks: yield between them.
			if (chunk > FIRST_CHUNK) await nextTurn();
		}
	}

	/** A user who was offline for long needs many timelines: reads the first chunk of several with one query. */
	async loadAll(targets: readonly LoadTarget[]): Promise<void> {
		for (let from = 0; from < targets.length; from += CONVERSATIONS_PER_QUERY) {
			const some = targets.slice(from, from + CONVERSATIONS_PER_QUERY);
			await this.readFirstChunks(some);
			for (const { conversation, ts } of some) await this.loadBackTo(conversation, ts);
			await nextTurn();
		}
	}

	/** Loads one chunk towards this ts. */
	async loadFirstChunk(conversation: LoadedConversation, ts: number): Promise<void> {
		await this.loadChunk(conversation, ts, FIRST_CHUNK);
	}

	/** Loads the entry before the newest, so that `latest` stays known when the newest is deleted. */
	async loadPastNewest(conversation: LoadedConversation): Promise<void> {
		const { timeline } = conversation;
		while (timeline.size < 2 && timeline.floor > 0) await this.loadChunk(conversation, 0, FIRST_CHUNK);
	}

	/**
	 * Loads one chunk further back, at most to `after`. Concurrent callers for the same conversation wait for one read, and check
	 * again.
	 */
	private async loadChunk(conversation: LoadedConversation, after: number, chunk: number): Promise<void> {
		const inProgress = this.inProgress.get(conversation);
		if (inProgress) {
			await inProgress;
			return this.turnstile.pass();
		}
		const reading = this.readChunk(conversation, after, chunk).finally(() =>
			this.inProgress.delete(conversation),
		);
		this.inProgress.set(conversation, reading);
		return reading;
	}

	private async readChunk(conversation: LoadedConversation, after: number, chunk: number): Promise<void> {
		if (conversation.changedBelowFloor > this.ledger.durable()) await this.ledger.flushed();
		const add = this.adder(conversation, after, chunk);
		add(await this.source.timelineEntries(conversation.id, after, conversation.timeline.floor, chunk));
	}

	private async readFirstChunks(targets: readonly LoadTarget[]): Promise<void> {
		const durable = this.ledger.durable();
		if (targets.some(({ conversation }) => conversation.changedBelowFloor > durable))
			await this.ledger.flushed();
		const adders = targets.map(({ conversation, ts }) => this.adder(conversation, ts, FIRST_CHUNK));
		const ranges = targets.map(({ conversation: { id, timeline }, ts }) => ({
			conversation: id,
			after: ts,
			upTo: timeline.floor,
		}));
		const found = await this.source.timelinesOf(ranges, FIRST_CHUNK);
		for (const [index, { conversation }] of targets.entries())
			adders[index]?.(found.get(conversation.id) ?? []);
	}

	/** Returns a function that adds the entries read from now on, unless the timeline has changed by then. */
	private adder(conversation: LoadedConversation, after: number, chunk: number) {
		const { timeline, changedBelowFloor } = conversation;
		const { floor } = timeline;
		return (rows: readonly EntryRow[]): void => {
			// Another caller loaded the same chunk, or a change happened in it: the rows may be outdated.
			if (timeline.floor !== floor || conversation.changedBelowFloor !== changedBelowFloor) return;
			const reached = rows.length < chunk ? after : rows[0]!.ts - 1;
			timeline.prepend(rows.map(this.entryOf), reached);
		};
	}
}

const ADMITTED_PER_TURN = 16;

/**
 * Resumes callers that waited for the same read a few at a time, in order; otherwise all of them would continue in one turn of
 * the event loop.
 */
class Turnstile {
	private waiting: (() => void)[] = [];

	/** Resolves when the caller may continue. */
	pass(): Promise<void> {
		return new Promise((resolve) => {
			this.waiting.push(resolve);
			if (this.waiting.length === 1) setImmediate(() => this.admit());
		});
	}

	private admit(): void {
		const admitted = this.waiting.slice(0, ADMITTED_PER_TURN);
		this.waiting = this.waiting.slice(ADMITTED_PER_TURN);
		for (const resolve of admitted) resolve();
		if (this.waiting.length > 0) setImmediate(() => this.admit());
	}
}
