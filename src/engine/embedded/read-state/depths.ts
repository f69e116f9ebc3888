import type { Entry } from '../../../model/timeline.ts';
import type { EntryRow, Ledger, StateSource } from '../../ports/store.ts';
import type { LoadedConversation } from './loaded.ts';
import { Turnstile } from './turnstile.ts';

/**
 * Brings in older entries of timelines, as far back as somebody counts.
 *
 * What was read is taken in only where nothing of it can be old: when neither the floor nor anything below it
 * changed in the meantime. Whoever needs the depth looks again whether it is there.
 */

/** Lets other work have its turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 2_048;
/** How many conversations are asked about in one query: a few milliseconds of somebody else's waiting. */
const TOGETHER = 512;

/** Counts from `ts` on need the entries after it. */
export interface Depth {
	readonly conversation: LoadedConversation;
	readonly ts: number;
}

export class Depths {
	private readonly underWay = new Map<LoadedConversation, Promise<void>>();
	private readonly turnstile = new Turnstile();

	constructor(
		private readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly entryOf: (row: EntryRow) => Entry,
	) {}

	async reach(conversation: LoadedConversation, ts: number): Promise<void> {
		const { timeline } = conversation;
		for (let chunk = FIRST_CHUNK; ts < timeline.floor; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			await this.step(conversation, ts, chunk);
			// A long way back is gone in steps, with the others' turns in between.
			if (chunk > FIRST_CHUNK) await nextTurn();
		}
	}

	/** A user who was offline for long has many: the first step of each is taken together with others. */
	async reachAll(depths: readonly Depth[]): Promise<void> {
		for (let from = 0; from < depths.length; from += TOGETHER) {
			const some = depths.slice(from, from + TOGETHER);
			await this.firstSteps(some);
			for (const { conversation, ts } of some) await this.reach(conversation, ts);
			await nextTurn();
		}
	}

	/** One step towards this ts. */
	async oneStep(conversation: LoadedConversation, ts: number): Promise<void> {
		await this.step(conversation, ts, FIRST_CHUNK);
	}

	/** Has the entry before the newest at hand, so that `latest` stays known when the newest is deleted. */
	async reachPastNewest(conversation: LoadedConversation): Promise<void> {
		const { timeline } = conversation;
		while (timeline.size < 2 && timeline.floor > 0) await this.step(conversation, 0, FIRST_CHUNK);
	}

	/**
	 * One piece further back, at most to `after`. Everybody who needs more of a conversation at the same time waits for one
	 * read of it, and looks again.
	 */
	private async step(conversation: LoadedConversation, after: number, chunk: number): Promise<void> {
		const underWay = this.underWay.get(conversation);
		if (underWay) {
			await underWay;
			return this.turnstile.pass();
		}
		const reading = this.readPiece(conversation, after, chunk).finally(() =>
			this.underWay.delete(conversation),
		);
		this.underWay.set(conversation, reading);
		return reading;
	}

	private async readPiece(conversation: LoadedConversation, after: number, chunk: number): Promise<void> {
		if (conversation.changedBelowFloor > this.ledger.durable()) await this.ledger.settled();
		const takeIn = this.taker(conversation, after, chunk);
		takeIn(await this.source.timelineEntries(conversation.id, after, conversation.timeline.floor, chunk));
	}

	private async firstSteps(depths: readonly Depth[]): Promise<void> {
		const durable = this.ledger.durable();
		if (depths.some(({ conversation }) => conversation.changedBelowFloor > durable))
			await this.ledger.settled();
		const takers = depths.map(({ conversation, ts }) => this.taker(conversation, ts, FIRST_CHUNK));
		const ranges = depths.map(({ conversation: { id, timeline }, ts }) => ({
			conversation: id,
			after: ts,
			upTo: timeline.floor,
		}));
		const found = await this.source.timelinesOf(ranges, FIRST_CHUNK);
		for (const [index, { conversation }] of depths.entries())
			takers[index]?.(found.get(conversation.id) ?? []);
	}

	/** Takes in what was read from here on, unless something changed until then. */
	private taker(conversation: LoadedConversation, after: number, chunk: number) {
		const { timeline, changedBelowFloor } = conversation;
		const { floor } = timeline;
		return (rows: readonly EntryRow[]): void => {
			// Somebody else loaded the same piece, or changed something in it: what was read may be old.
			if (timeline.floor !== floor || conversation.changedBelowFloor !== changedBelowFloor) return;
			const reached = rows.length < chunk ? after : rows[0]!.ts - 1;
			timeline.prepend(rows.map(this.entryOf), reached);
		};
	}
}
