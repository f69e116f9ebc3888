import { nextTurn } from '../../model/next-turn.ts';
import type { Timeline } from '../../model/timeline.ts';
import type { EntryRow, StateSource } from '../ports/store.ts';

/**
 * Loads older entries of timelines from the store, as far back as a reader counts. Both engines use it.
 *
 * Rows are added only if the timeline and its `loadVersion` are the same as before the read; callers check again whether the
 * timeline is loaded far enough.
 */

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 2_048;
/** Conversations per query: delays other work by a few milliseconds. */
const CONVERSATIONS_PER_QUERY = 512;

/** A conversation whose timeline can be loaded further back. */
export interface Loadable {
	readonly id: string;
	readonly timeline: Timeline;
	/** If this changes during a read, the rows may be outdated. */
	readonly loadVersion: number | string;
}

/** A timeline, and the ts after which its entries are needed. */
export interface LoadTarget<Conversation> {
	readonly conversation: Conversation;
	readonly ts: number;
}

export interface TimelineLoaderParts<Conversation> {
	readonly source: Pick<StateSource, 'timelineEntries' | 'timelinesOf'>;
	/** Makes sure that the store has what the read needs, and reads. */
	readonly reading: <T>(conversations: readonly Conversation[], read: () => Promise<T>) => Promise<T>;
	/** Adds older rows, all after `reached`. */
	readonly add: (conversation: Conversation, rows: readonly EntryRow[], reached: number) => void;
}

export class TimelineLoader<Conversation extends Loadable> {
	private readonly inProgress = new Map<Conversation, Promise<void>>();
	private readonly turnstile = new Turnstile();

	constructor(private readonly parts: TimelineLoaderParts<Conversation>) {}

	async loadBackTo(conversation: Conversation, ts: number): Promise<void> {
		for (
			let chunk = FIRST_CHUNK;
			ts < conversation.timeline.floor;
			chunk = Math.min(chunk * 4, LARGEST_CHUNK)
		) {
			await this.loadChunk(conversation, ts, chunk);
			// Large chunks: yield between them.
			if (chunk > FIRST_CHUNK) await nextTurn();
		}
	}

	/** A user who was offline for long needs many timelines: reads the first chunk of several with one query. */
	async loadAll(targets: readonly LoadTarget<Conversation>[]): Promise<void> {
		for (let from = 0; from < targets.length; from += CONVERSATIONS_PER_QUERY) {
			const some = targets.slice(from, from + CONVERSATIONS_PER_QUERY);
			await this.readFirstChunks(some);
			for (const { conversation, ts } of some) await this.loadBackTo(conversation, ts);
			await nextTurn();
		}
	}

	/** Loads one chunk towards this ts. */
	async loadSmallChunk(conversation: Conversation, ts: number): Promise<void> {
		await this.loadChunk(conversation, ts, FIRST_CHUNK);
	}

	/** Loads the entry before the newest, so that `latest` stays known when the newest is deleted. */
	async loadPastNewest(conversation: Conversation): Promise<void> {
		while (conversation.timeline.size < 2 && conversation.timeline.floor > 0)
			await this.loadChunk(conversation, 0, FIRST_CHUNK);
	}

	/**
	 * Loads one chunk further back, at most to `after`. Concurrent callers for the same conversation wait for one read, and check
	 * again.
	 */
	private async loadChunk(conversation: Conversation, after: number, chunk: number): Promise<void> {
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

	private async readChunk(conversation: Conversation, after: number, chunk: number): Promise<void> {
		const { source, reading } = this.parts;
		const add = this.adder(conversation, after, chunk);
		const { id, timeline } = conversation;
		add(await reading([conversation], () => source.timelineEntries(id, after, timeline.floor, chunk)));
	}

	private async readFirstChunks(targets: readonly LoadTarget<Conversation>[]): Promise<void> {
		const { source, reading } = this.parts;
		const adders = targets.map(({ conversation, ts }) => this.adder(conversation, ts, FIRST_CHUNK));
		const ranges = targets.map(({ conversation: { id, timeline }, ts }) => ({
			conversation: id,
			after: ts,
			upTo: timeline.floor,
		}));
		const conversations = targets.map(({ conversation }) => conversation);
		const found = await reading(conversations, () => source.timelinesOf(ranges, FIRST_CHUNK));
		for (const [index, { id }] of conversations.entries()) adders[index]?.(found.get(id) ?? []);
	}

	/** Returns a function that adds the rows read from now on, unless the timeline has changed by then. */
	private adder(conversation: Conversation, after: number, chunk: number) {
		const { timeline, loadVersion } = conversation;
		const { floor } = timeline;
		return (rows: readonly EntryRow[]): void => {
			// Another caller loaded the same chunk, or a change happened in it.
			if (conversation.timeline !== timeline || timeline.floor !== floor) return;
			if (conversation.loadVersion !== loadVersion) return;
			this.parts.add(conversation, rows, rows.length < chunk ? after : (rows[0]?.ts ?? 1) - 1);
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
