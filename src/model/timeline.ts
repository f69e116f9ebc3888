/**
 * The entries that counts are computed from: those of a conversation's timeline, or of one thread, in ts order and in
 * packed arrays, 13 bytes per entry. Every entry after `floor` is loaded; entries at or before it are not.
 * Pure data: the engine that holds a timeline loads its entries.
 */

/** Flags of an entry. */
export const CHANNEL_WIDE = 1;
export const HERE = 2;
export const NAMES = 4;
export const BROADCAST = 8;
/** An entry has a mention if it has one of these flags. */
const MENTIONS = CHANNEL_WIDE | HERE | NAMES;

export const flagsOf = (message: {
	readonly channelWide: boolean;
	readonly here: boolean;
	readonly broadcast: boolean;
	readonly named: readonly string[];
}): number =>
	(message.channelWide ? CHANNEL_WIDE : 0) |
	(message.here ? HERE : 0) |
	(message.named.length > 0 ? NAMES : 0) |
	(message.broadcast ? BROADCAST : 0);

/** What `flagsOf` has packed, except who is named. */
export const unpackFlags = (flags: number) => ({
	channelWide: (flags & CHANNEL_WIDE) !== 0,
	here: (flags & HERE) !== 0,
	broadcast: (flags & BROADCAST) !== 0,
});

export interface Entry {
	readonly ts: number;
	/** The author's number, by the `Numbering` of the object that holds the timeline. */
	readonly author: number;
	readonly flags: number;
	/** Numbers of the users named; only where the flag NAMES is set. */
	readonly named: readonly number[];
}

const NOBODY: readonly number[] = [];
const NO_MENTIONS: readonly number[] = [];

/** Most timelines have no entry loaded; they share these empty arrays. */
const NO_TS = new Float64Array(0);
const NO_AUTHOR = new Uint32Array(0);
const NO_FLAGS = new Uint8Array(0);
const FIRST_CAPACITY = 4;

interface MentionIndex {
	readonly named: Map<number, number[]>;
	readonly toAll: number[];
}

function addMentions(
	index: MentionIndex,
	ts: number,
	flags: number,
	named: readonly number[] = NOBODY,
): void {
	if (flags & (CHANNEL_WIDE | HERE)) index.toAll.push(ts);
	for (const user of named) {
		const known = index.named.get(user);
		// A text can name a user twice.
		if (!known) index.named.set(user, [ts]);
		else if (known.at(-1) !== ts) known.push(ts);
	}
}

export class Timeline {
	/** The newest ts, also while the entry itself is not loaded; 0 for none. */
	latest: number;
	/** Every entry after this ts is loaded. 0: all of them are. */
	floor: number;
	size = 0;
	private ts = NO_TS;
	private author = NO_AUTHOR;
	private flags = NO_FLAGS;
	private named: Map<number, readonly number[]> | undefined;
	/** ts of the entries with a mention, ascending; most timelines have few. */
	private mentions: number[] | undefined;
	/** The same ts, grouped for `mentionsOf`; computed on first use. */
	private mentionIndex: MentionIndex | undefined;

	constructor(latest: number) {
		this.latest = latest;
		this.floor = latest;
	}

	tsAt(index: number): number {
		return this.ts[index] as number;
	}

	authorAt(index: number): number {
		return this.author[index] as number;
	}

	flagsAt(index: number): number {
		return this.flags[index] as number;
	}

	namedAt(index: number): readonly number[] {
		return this.named?.get(this.tsAt(index)) ?? NOBODY;
	}

	/** Index of the first entry after `ts`; `size` if there is none. */
	firstAfter(ts: number): number {
		// Most cursors are at the end: check there before searching.
		if (this.size === 0 || this.tsAt(this.size - 1) <= ts) return this.size;
		let low = 0;
		let high = this.size - 1;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.tsAt(middle) <= ts) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** ts of the entries with a mention, ascending. */
	get mentioning(): readonly number[] {
		return this.mentions ?? NO_MENTIONS;
	}

	/** ts of the entries that name this user, and of those that mention all or all active members; both ascending. */
	mentionsOf(user: number): { readonly named: readonly number[]; readonly toAll: readonly number[] } {
		this.mentionIndex ??= this.indexMentions();
		return { named: this.mentionIndex.named.get(user) ?? NO_MENTIONS, toAll: this.mentionIndex.toAll };
	}

	private indexMentions(): MentionIndex {
		const index: MentionIndex = { named: new Map(), toAll: [] };
		for (const ts of this.mentioning)
			addMentions(index, ts, this.flagsAt(this.indexOf(ts)), this.named?.get(ts));
		return index;
	}

	/** Index of the entry with this ts, or -1. */
	indexOf(ts: number): number {
		const index = this.firstAfter(ts - 1);
		return index < this.size && this.tsAt(index) === ts ? index : -1;
	}

	/** Adds the newest entry. */
	append(entry: Entry): void {
		this.reserve(this.size + 1);
		this.put(this.size, entry);
		this.size += 1;
		if (entry.flags & MENTIONS) {
			this.mentions ??= [];
			this.mentions.push(entry.ts);
			if (this.mentionIndex) addMentions(this.mentionIndex, entry.ts, entry.flags, entry.named);
		}
		this.latest = entry.ts;
	}

	/** Inserts older entries in front: ascending, after `floor` and before the loaded ones. */
	prepend(entries: readonly Entry[], floor: number): void {
		const count = entries.length;
		this.reserve(this.size + count);
		this.ts.copyWithin(count, 0, this.size);
		this.author.copyWithin(count, 0, this.size);
		this.flags.copyWithin(count, 0, this.size);
		entries.forEach((entry, index) => {
			this.put(index, entry);
		});
		this.mentionIndex = undefined;
		const mentions = entries.filter(({ flags }) => flags & MENTIONS).map(({ ts }) => ts);
		if (mentions.length > 0) this.mentions = this.mentions ? mentions.concat(this.mentions) : mentions;
		this.size += count;
		this.floor = floor;
		if (this.size > 0) this.latest = this.tsAt(this.size - 1);
	}

	/** Replaces the author, flags and names of the entry with this ts. */
	update(entry: Entry): void {
		const index = this.indexOf(entry.ts);
		if (index < 0) return;
		this.put(index, entry);
		this.mentionIndex = undefined;
		this.setMentioning(entry.ts, (entry.flags & MENTIONS) !== 0);
	}

	/** Removes an entry. Afterwards `latest` may be wrong if no loaded entry is left and older ones exist. */
	remove(ts: number): void {
		const index = this.indexOf(ts);
		if (index < 0) return;
		this.ts.copyWithin(index, index + 1, this.size);
		this.author.copyWithin(index, index + 1, this.size);
		this.flags.copyWithin(index, index + 1, this.size);
		this.named?.delete(ts);
		if (this.mentioning[firstAtOrAfter(this.mentioning, ts)] === ts) this.mentionIndex = undefined;
		this.setMentioning(ts, false);
		this.size -= 1;
		this.latest = this.size > 0 ? this.tsAt(this.size - 1) : this.floor;
	}

	private setMentioning(ts: number, mentions: boolean): void {
		const known = this.mentions ?? [];
		const at = firstAtOrAfter(known, ts);
		const isKnown = known[at] === ts;
		if (isKnown === mentions) return;
		if (mentions) known.splice(at, 0, ts);
		else known.splice(at, 1);
		this.mentions = known;
	}

	private put(index: number, entry: Entry): void {
		this.ts[index] = entry.ts;
		this.author[index] = entry.author;
		this.flags[index] = entry.flags;
		if (entry.flags & NAMES) this.named = (this.named ?? new Map()).set(entry.ts, entry.named);
		else this.named?.delete(entry.ts);
	}

	private reserve(size: number): void {
		if (size <= this.ts.length) return;
		const capacity = Math.max(size, this.ts.length * 2, FIRST_CAPACITY);
		const ts = new Float64Array(capacity);
		const author = new Uint32Array(capacity);
		const flags = new Uint8Array(capacity);
		ts.set(this.ts);
		author.set(this.author);
		flags.set(this.flags);
		this.ts = ts;
		this.author = author;
		this.flags = flags;
	}
}

/** Index of the first element that is not before `ts`; the array must ascend. */
export function firstAtOrAfter(ascending: ArrayLike<number>, ts: number): number {
	let low = 0;
	let high = ascending.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((ascending[middle] as number) < ts) low = middle + 1;
		else high = middle;
	}
	return low;
}
