import { nextTurn } from '../../model/next-turn.ts';
import { SingleFlight } from '../../model/single-flight.ts';
import type { EntryRow, StateSource } from '../ports/store.ts';
import type { LoadedConversation } from './conversation.ts';

/**
 * Loads older entries of timelines, and threads, from the store, as far back as a reader counts. Both engines use it.
 *
 * Rows are dropped if, during the read, the timeline was replaced or another caller extended it. So callers check again whether it is
 * loaded far enough.
 */

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 2_048;
/** Conversations per query: one query delays other work by a few milliseconds. */
const CONVERSATIONS_PER_QUERY = 512;
const REPLIES_PER_QUERY = 1_024;
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** A timeline, and the ts after which its entries are needed. */
export interface LoadTarget<Conversation> {
	readonly conversation: Conversation;
	readonly ts: number;
}

export interface TimelineLoaderParts<Conversation> {
	readonly source: Pick<StateSource, 'timelineEntries' | 'timelinesOf' | 'threadEntries'>;
	/** Called with each read: rejects if its rows cannot be used. */
	readonly check: (conversations: readonly Conversation[]) => Promise<void>;
	/** Called when a conversation needs more memory. */
	readonly onGrown: (conversation: Conversation) => void;
}

export class TimelineLoader<Conversation extends LoadedConversation> {
	private readonly reads = new SingleFlight<Conversation, void>();
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

	/** Loads until two entries, or all, are loaded, so that the newest stays known if one is deleted. */
	async loadPastNewest(conversation: Conversation): Promise<void> {
		while (conversation.timeline.size < 2 && conversation.timeline.floor > 0)
			await this.loadChunk(conversation, 0, FIRST_CHUNK);
	}

	/** Loads all replies of a thread. */
	async loadThread(conversation: Conversation, root: number): Promise<void> {
		const { id, timeline } = conversation;
		await this.load(
			[conversation],
			() => this.replies(id, root),
			(rows) => {
				if (conversation.timeline !== timeline || conversation.threads.has(root)) return;
				conversation.addThread(root, rows);
				this.parts.onGrown(conversation);
			},
		);
	}

	/** Reads the newest first, and yields between queries. */
	private async replies(conversation: string, root: number): Promise<EntryRow[]> {
		const pieces: (readonly EntryRow[])[] = [];
		for (let upTo = EVERYTHING; ; ) {
			const rows = await this.parts.source.threadEntries(conversation, root, upTo, REPLIES_PER_QUERY);
			pieces.unshift(rows);
			if (rows.length < REPLIES_PER_QUERY) return pieces.flat();
			upTo = (rows[0] as EntryRow).ts - 1;
			await nextTurn();
		}
	}

	/**
	 * Loads one chunk further back, at most to `after`. Concurrent callers for the same conversation wait for one read, and check
	 * again.
	 */
	private async loadChunk(conversation: Conversation, after: number, chunk: number): Promise<void> {
		const isShared = this.reads.isRunning(conversation);
		await this.reads.run(conversation, () => this.readChunk(conversation, after, chunk));
		if (isShared) await this.turnstile.pass();
	}

	private async readChunk(conversation: Conversation, after: number, chunk: number): Promise<void> {
		const add = this.adder(conversation, after, chunk);
		const { id, timeline } = conversation;
		const { source } = this.parts;
		await this.load([conversation], () => source.timelineEntries(id, after, timeline.floor, chunk), add);
	}

	private async readFirstChunks(targets: readonly LoadTarget<Conversation>[]): Promise<void> {
		const adders = targets.map(({ conversation, ts }) => this.adder(conversation, ts, FIRST_CHUNK));
		const ranges = targets.map(({ conversation: { id, timeline }, ts }) => ({
			conversation: id,
			after: ts,
			upTo: timeline.floor,
		}));
		const conversations = targets.map(({ conversation }) => conversation);
		const { source } = this.parts;
		await this.load(
			conversations,
			() => source.timelinesOf(ranges, FIRST_CHUNK),
			(found) => {
				for (const [index, { id }] of conversations.entries()) adders[index]?.(found.get(id) ?? []);
			},
		);
	}

	/** Raises `reads` until the rows are added, so that the conversations keep all changes that the rows may lack. */
	private async load<Rows>(
		conversations: readonly Conversation[],
		read: () => Promise<Rows>,
		add: (rows: Rows) => void,
	): Promise<void> {
		for (const conversation of conversations) conversation.reads += 1;
		try {
			const [rows] = await Promise.all([read(), this.parts.check(conversations)]);
			add(rows);
		} finally {
			for (const conversation of conversations) conversation.reads -= 1;
		}
	}

	/** Returns a function that adds the rows read from now on, unless another caller has loaded them by then. */
	private adder(conversation: Conversation, after: number, chunk: number) {
		const { timeline } = conversation;
		const { floor } = timeline;
		return (rows: readonly EntryRow[]): void => {
			if (conversation.timeline !== timeline || timeline.floor !== floor) return;
			conversation.prepend(rows, rows.length < chunk ? after : (rows[0]?.ts ?? 1) - 1);
			this.parts.onGrown(conversation);
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
