import type { EntryRow, MentioningEntries, StateSource } from '../engine/ports/store.ts';
import { nextTurn } from '../model/next-turn.ts';

/** Reads the entries that counts are computed from: a few per turn of the event loop, and once for all readers of a conversation. */

/** Entries read in one turn of the event loop. */
export const ENTRIES_PER_STEP = 500;
/** Maximum number of cached reads. One count needs about 20, and as many again for older mentions. */
const MAX_CACHED = 100;

/** Splits long work into small steps. All tasks that share one `Steps` together run one step per turn of the event loop. */
export class Steps {
	private last: Promise<void> = Promise.resolve();

	/** Resolves when the next step may run. */
	next(): Promise<void> {
		this.last = this.last.then(nextTurn);
		return this.last;
	}
}

export interface StoredEntries {
	/** The newest timeline entries with `after` < ts <= `upTo`, ascending; fewer than ENTRIES_PER_STEP at the end. */
	timeline(conversation: string, after: number, upTo: number): Promise<readonly EntryRow[]>;
	/** As `StateSource.mentioningEntries`. */
	mentioning(conversation: string, after: number, upTo: number): Promise<MentioningEntries>;
	/** The newest replies with ts <= `upTo`, ascending; fewer than ENTRIES_PER_STEP at the end. */
	replies(conversation: string, threadTs: number, upTo: number): Promise<readonly EntryRow[]>;
}

export function steppedEntries(source: StateSource, steps: Steps): StoredEntries {
	return {
		timeline: async (conversation, after, upTo) => {
			await steps.next();
			return source.timelineEntries(conversation, after, upTo, ENTRIES_PER_STEP);
		},
		mentioning: async (conversation, after, upTo) => {
			await steps.next();
			return source.mentioningEntries(conversation, after, upTo, ENTRIES_PER_STEP);
		},
		replies: async (conversation, threadTs, upTo) => {
			await steps.next();
			return source.threadEntries(conversation, threadTs, upTo, ENTRIES_PER_STEP);
		},
	};
}

/** Every eighth read that the cache answers waits for the next turn of the event loop, because counting what it returns takes time. */
const CACHED_PER_STEP = 8;

/** Shares reads among many readers of one conversation. */
export class SharedEntries implements StoredEntries {
	private readonly cache = new Map<string, Promise<unknown>>();
	private stamp = 0;
	private taken = 0;

	constructor(
		private readonly entries: StoredEntries,
		private readonly steps: Steps,
	) {}

	/** Sets the stamp of the served conversation. If it differs from the previous one, cached reads are outdated and dropped. */
	at(stamp: number): this {
		if (stamp !== this.stamp) this.cache.clear();
		this.stamp = stamp;
		return this;
	}

	async timeline(conversation: string, after: number, upTo: number): Promise<readonly EntryRow[]> {
		const read = () => this.entries.timeline(conversation, 0, upTo);
		return afterOnly(await this.once(`timeline ${conversation} ${upTo}`, read), after);
	}

	async mentioning(conversation: string, after: number, upTo: number): Promise<MentioningEntries> {
		const read = () => this.entries.mentioning(conversation, 0, upTo);
		const { entries, next } = await this.once(`mentioning ${conversation} ${upTo}`, read);
		return { entries: afterOnly(entries, after), next: next !== null && next > after ? next : null };
	}

	replies(conversation: string, threadTs: number, upTo: number): Promise<readonly EntryRow[]> {
		return this.entries.replies(conversation, threadTs, upTo);
	}

	private async once<T>(key: string, read: () => Promise<T>): Promise<T> {
		const known = this.cache.get(key) as Promise<T> | undefined;
		if (known) {
			this.taken += 1;
			if (this.taken % CACHED_PER_STEP === 0) await this.steps.next();
			return known;
		}
		const reading = read();
		this.cache.set(key, reading);
		reading.catch(() => this.cache.delete(key));
		const [oldest] = this.cache.keys();
		if (this.cache.size > MAX_CACHED && oldest !== undefined) this.cache.delete(oldest);
		return reading;
	}
}

/** Entries after this ts: other readers may be further behind. */
const afterOnly = (ascending: readonly EntryRow[], after: number): readonly EntryRow[] =>
	(ascending[0]?.ts ?? Number.POSITIVE_INFINITY) > after
		? ascending
		: ascending.filter(({ ts }) => ts > after);
