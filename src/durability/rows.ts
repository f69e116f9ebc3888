import type { EntryRow, MentioningEntries, StateSource } from '../engine/ports/store.ts';
import type { Pace } from './pace.ts';

/** The rows that counts are taken from: a few in each turn of the event loop, and once for all who count the same conversation. */

/** Rows read in one turn of the event loop. */
export const ROWS_A_TURN = 500;
/** Reads that are kept: what a count shows, and as much again of mentions before that. */
const MOST_KEPT = 100;

export interface Rows {
	/** The newest timeline entries with `after` < ts <= `upTo`, ascending; fewer than ROWS_A_TURN at the end. */
	timeline(conversation: string, after: number, upTo: number): Promise<readonly EntryRow[]>;
	/** As `StateSource.mentioningEntries`. */
	mentioning(conversation: string, after: number, upTo: number): Promise<MentioningEntries>;
	/** The newest replies with ts <= `upTo`, ascending; fewer than ROWS_A_TURN at the end. */
	replies(conversation: string, threadTs: number, upTo: number): Promise<readonly EntryRow[]>;
}

export function pacedRows(source: StateSource, pace: Pace): Rows {
	return {
		timeline: async (conversation, after, upTo) => {
			await pace.turn();
			return source.timelineEntries(conversation, after, upTo, ROWS_A_TURN);
		},
		mentioning: async (conversation, after, upTo) => {
			await pace.turn();
			return source.mentioningEntries(conversation, after, upTo, ROWS_A_TURN);
		},
		replies: async (conversation, threadTs, upTo) => {
			await pace.turn();
			return source.threadEntries(conversation, threadTs, upTo, ROWS_A_TURN);
		},
	};
}

/** Kept reads that one reader takes in one turn: counting them costs time as well. */
const KEPT_A_TURN = 8;

/** For many readers of one conversation: what one of them read is there for the next. */
export class SharedRows implements Rows {
	private readonly kept = new Map<string, Promise<unknown>>();
	private stamp = 0;
	private taken = 0;

	constructor(
		private readonly rows: Rows,
		private readonly pace: Pace,
	) {}

	/** The stamp of the conversation as it is served: what was read before it changed is of no use. */
	at(stamp: number): this {
		if (stamp !== this.stamp) this.kept.clear();
		this.stamp = stamp;
		return this;
	}

	async timeline(conversation: string, after: number, upTo: number): Promise<readonly EntryRow[]> {
		const read = () => this.rows.timeline(conversation, 0, upTo);
		return afterOnly(await this.once(`timeline ${conversation} ${upTo}`, read), after);
	}

	async mentioning(conversation: string, after: number, upTo: number): Promise<MentioningEntries> {
		const read = () => this.rows.mentioning(conversation, 0, upTo);
		const { entries, next } = await this.once(`mentioning ${conversation} ${upTo}`, read);
		return { entries: afterOnly(entries, after), next: next !== null && next > after ? next : null };
	}

	replies(conversation: string, threadTs: number, upTo: number): Promise<readonly EntryRow[]> {
		return this.rows.replies(conversation, threadTs, upTo);
	}

	private async once<T>(key: string, read: () => Promise<T>): Promise<T> {
		const known = this.kept.get(key) as Promise<T> | undefined;
		if (known) {
			this.taken += 1;
			if (this.taken % KEPT_A_TURN === 0) await this.pace.turn();
			return known;
		}
		const reading = read();
		this.kept.set(key, reading);
		reading.catch(() => this.kept.delete(key));
		const [oldest] = this.kept.keys();
		if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
		return reading;
	}
}

/** Those after this ts: readers are not equally far behind. */
const afterOnly = (ascending: readonly EntryRow[], after: number): readonly EntryRow[] =>
	(ascending[0]?.ts ?? Number.POSITIVE_INFINITY) > after
		? ascending
		: ascending.filter(({ ts }) => ts > after);
