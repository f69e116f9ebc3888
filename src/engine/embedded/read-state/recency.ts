import type { LoadedConversation } from './loaded.ts';

interface RecencyEntry {
	readonly conversation: LoadedConversation;
	readonly latest: number;
}

/**
 * Conversations in the order of their latest activity, for inboxes. A post appends one entry, whatever the
 * size of its conversation: nothing is pushed to members. An entry that a later one made stale is passed over
 * by whoever walks, and falls away when there are more stale ones than others.
 */
export class Recency {
	/** In order, oldest first. */
	private entries: RecencyEntry[] = [];
	/** Of conversations that came into memory, not in order yet. */
	private arrived: RecencyEntry[] = [];
	private live = 0;
	/** Somebody may stand in it twice. */
	private doubtful = false;

	/** A conversation came into memory: its place is somewhere in the past. */
	add(conversation: LoadedConversation): void {
		this.live += 1;
		const entry = { conversation, latest: conversation.timeline.latest };
		// Many come in at once: put in order when somebody asks.
		if (entry.latest > (this.entries.at(-1)?.latest ?? 0)) this.entries.push(entry);
		else this.arrived.push(entry);
	}

	/** Its latest activity is another one now: the newest of all after a post, an older one after a delete. */
	touch(conversation: LoadedConversation): void {
		const { latest } = conversation.timeline;
		const entry = { conversation, latest };
		if (latest >= (this.entries.at(-1)?.latest ?? 0) && latest > 0) this.entries.push(entry);
		else this.putBack(entry);
		const { length } = this.entries;
		if (length > 1024 && length + this.arrived.length > 2 * this.live) this.compact();
	}

	/** Where it stood before its newest message was deleted: mostly its entry of then is still there. */
	private putBack(entry: RecencyEntry): void {
		const { conversation, latest } = entry;
		// Many may stand at 0, where nothing was said, and its entry from before the first message among them.
		if (latest === 0) this.doubtful = true;
		else if (this.entries[this.lastAtOrBefore(latest)]?.conversation === conversation) return;
		else if (this.arrived.some((one) => one.conversation === conversation && one.latest === latest)) return;
		this.arrived.push(entry);
	}

	/** It left memory; its entries fall away later. */
	removed(): void {
		this.live -= 1;
	}

	clear(): void {
		this.entries = [];
		this.arrived = [];
		this.live = 0;
		this.doubtful = false;
	}

	/** From the newest at or before `latest` to the oldest, each conversation once. */
	*walk(latest: number): Generator<LoadedConversation> {
		this.settle();
		const { entries } = this;
		for (let index = this.lastAtOrBefore(latest); index >= 0; index -= 1) {
			const entry = entries[index];
			if (!entry || entry.conversation.evicted) continue;
			if (entry.conversation.timeline.latest === entry.latest) yield entry.conversation;
		}
	}

	private lastAtOrBefore(latest: number): number {
		return this.firstWhere((entry) => entry.latest > latest) - 1;
	}

	/** Of what is false for all up to a point, and true from there on. */
	private firstWhere(holds: (entry: RecencyEntry) => boolean): number {
		let low = 0;
		let high = this.entries.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (holds(this.entries[middle] as RecencyEntry)) high = middle;
			else low = middle + 1;
		}
		return low;
	}

	/** Puts what arrived in order: few are put in between the others, which are not looked at. */
	private settle(): void {
		if (this.arrived.length === 0) return;
		if (this.doubtful || this.arrived.length > this.entries.length / 64) {
			this.compact();
			return;
		}
		const pieces: RecencyEntry[][] = [];
		let from = 0;
		for (const entry of this.arrived.sort(inOrder)) {
			const to = this.firstWhere((other) => inOrder(other, entry) > 0);
			pieces.push(this.entries.slice(from, to), [entry]);
			from = to;
		}
		pieces.push(this.entries.slice(from));
		this.entries = pieces.flat();
		this.arrived = [];
	}

	/** Sorts all, and drops stale and repeated entries. */
	private compact(): void {
		const newest = new Map<LoadedConversation, number>();
		for (const { conversation } of [...this.entries, ...this.arrived])
			if (!conversation.evicted) newest.set(conversation, conversation.timeline.latest);
		this.entries = [...newest].map(([conversation, latest]) => ({ conversation, latest })).sort(inOrder);
		this.arrived = [];
		this.doubtful = false;
	}
}

/** Of the same latest, ids decide: walks go from low to high. */
const inOrder = (a: RecencyEntry, b: RecencyEntry): number =>
	a.latest - b.latest || (a.conversation.id < b.conversation.id ? 1 : -1);
