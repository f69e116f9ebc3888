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
	private entries: RecencyEntry[] = [];
	private sorted = true;
	private live = 0;

	/** A conversation came into memory: its place is somewhere in the past. */
	add(conversation: LoadedConversation): void {
		this.live += 1;
		const { latest } = conversation.timeline;
		// Many come in at once: sorted when somebody asks.
		if (latest < (this.entries.at(-1)?.latest ?? 0) || latest === 0) this.sorted = false;
		this.entries.push({ conversation, latest });
	}

	/** Its latest activity is another one now: the newest of all after a post, an older one after a delete. */
	touch(conversation: LoadedConversation): void {
		const { latest } = conversation.timeline;
		const entry = { conversation, latest };
		if (latest >= (this.entries.at(-1)?.latest ?? 0) || !this.sorted) this.entries.push(entry);
		else this.putBack(entry);
		if (this.entries.length > 1024 && this.entries.length > 2 * this.live) this.compact();
	}

	/** Where it stood before its newest message was deleted: mostly its entry of then is still there. */
	private putBack(entry: RecencyEntry): void {
		const index = this.lastAtOrBefore(entry.latest);
		if (entry.latest > 0 && this.entries[index]?.conversation === entry.conversation) return;
		// Many may stand at 0, where nothing was said: their order is made anew when somebody asks.
		if (entry.latest === 0) this.sorted = false;
		this.entries.splice(index + 1, 0, entry);
	}

	/** It left memory; its entries fall away later. */
	removed(): void {
		this.live -= 1;
	}

	clear(): void {
		this.entries = [];
		this.live = 0;
		this.sorted = true;
	}

	/** From the newest at or before `latest` to the oldest, each conversation once. */
	*walk(latest: number): Generator<LoadedConversation> {
		if (!this.sorted) this.compact();
		const { entries } = this;
		for (let index = this.lastAtOrBefore(latest); index >= 0; index -= 1) {
			const entry = entries[index];
			if (!entry || entry.conversation.evicted) continue;
			if (entry.conversation.timeline.latest === entry.latest) yield entry.conversation;
		}
	}

	private lastAtOrBefore(latest: number): number {
		let low = 0;
		let high = this.entries.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((this.entries[middle]?.latest ?? 0) <= latest) low = middle + 1;
			else high = middle;
		}
		return low - 1;
	}

	/** Sorts and drops stale and repeated entries. Of the same latest, ids decide: walks go from low to high. */
	private compact(): void {
		const newest = new Map<LoadedConversation, number>();
		for (const { conversation } of this.entries)
			if (!conversation.evicted) newest.set(conversation, conversation.timeline.latest);
		this.entries = [...newest].map(([conversation, latest]) => ({ conversation, latest }));
		this.entries.sort((a, b) => a.latest - b.latest || (a.conversation.id < b.conversation.id ? 1 : -1));
		this.sorted = true;
	}
}
