import type { ConversationKind } from '../../../../model/ids.ts';
import { checkInvariant } from '../../../../model/invariants.ts';
import { inTimeline } from '../../../../model/message.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import { type Entry, Timeline } from '../../../../model/timeline.ts';
import type { ConversationView } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import { packEntry, unpackEntry } from '../read-state/packing.ts';
import { slotOf } from '../slots.ts';

/**
 * A copy of a conversation in Redis, in the memory of this process. The process sends the copy's version; Redis returns the changes
 * since it (lua/views-1.lua), and the copy applies them. If Redis no longer has these changes, the copy is replaced as a whole.
 */

const NONE = '-';
/** A copy without entries: the object, its maps, its place in the cache. */
const OWN_BYTES = 400;
const ENTRY_BYTES = 13;
const THREAD_BYTES = 200;
const NAMED_BYTES = 60;

/** Result of applying effects: the stamp before them, when they became visible, and how late that was (0: not unusually late). */
export interface Applied {
	readonly before: string;
	readonly base: string;
	readonly seen: number;
	readonly late: number;
}

/** What has to be loaded before the copy covers a request. */
export interface Missing {
	/** The conversation is not in Redis. */
	readonly isAbsent: boolean;
	/** Threads that are not in Redis. */
	readonly threads: readonly number[];
}

const NOTHING_MISSING: Missing = { isAbsent: false, threads: [] };

export class ConversationCopy implements ConversationView {
	kind: ConversationKind = 'public';
	archived = false;
	stamp = 0;
	timeline = new Timeline(0);
	readonly threads = new Map<number, Timeline>();
	/** When its newest change became visible, in microseconds; 0 if none did since it was loaded. */
	seen = 0;
	/** The longest delay between a change and its visibility; usual delays are not recorded. */
	late = 0;
	/** When the newest of these late changes became visible. */
	lateSeen = 0;
	/** Rises with every update: answers to earlier requests are dropped. */
	updateNumber = 0;
	/** Rises when it becomes a copy of a different state. */
	stateNumber = 0;
	/** Used since the last eviction. */
	used = true;
	readonly slot: number;
	/** False if Redis has the conversation without a version key, as an earlier release left it. */
	hasVersionKey = true;
	/** When Redis last renewed the conversation's expiry for this copy, by `performance.now()`. */
	renewedMs = Number.NEGATIVE_INFINITY;
	private base = NONE;
	private named = 0;
	private cachedVersion = '';

	constructor(
		readonly id: string,
		readonly numbering: Numbering,
	) {
		this.slot = slotOf(id);
	}

	get isKnown(): boolean {
		return this.base !== NONE;
	}

	get bytes(): number {
		let entries = this.timeline.size;
		for (const thread of this.threads.values()) entries += thread.size;
		return OWN_BYTES + entries * ENTRY_BYTES + this.threads.size * THREAD_BYTES + this.named * NAMED_BYTES;
	}

	/** The value of the conversation's version key in Redis while this copy is current. */
	get version(): string {
		this.cachedVersion ||= `${this.stamp}:${this.base}`;
		return this.cachedVersion;
	}

	/** Whether it has all entries after `after` that Redis has, and these threads. */
	covers(after: number | null, threads: readonly number[]): boolean {
		if (!this.isKnown || (after !== null && after < this.timeline.floor)) return false;
		return threads.length === 0 || threads.every((root) => this.threads.has(root));
	}

	/** A request for views-1.lua, with entries after `after` and these threads. */
	request(after: number | null, threads: readonly number[]): string {
		const { id, stamp, base, timeline, isKnown } = this;
		const isDeeper = after !== null && (!isKnown || after < timeline.floor);
		const missing = threads.filter((root) => !this.threads.has(root));
		const more = isDeeper || missing.length > 0 ? '+' : '=';
		const edge = Math.max(timeline.latest, timeline.floor);
		const known = [id, isKnown ? stamp : NONE, base, more, edge, timeline.floor];
		return [...known, isDeeper ? after : NONE, ...missing].join(' ');
	}

	/** Applies the answer to a request that was made at the current `updateNumber`. */
	applyAnswer(answer: string): Missing {
		if (answer === '-1') return { isAbsent: true, threads: [] };
		this.startUpdate();
		this.hasVersionKey = true;
		const parts = answer.split(' ');
		const [mode, stamp, base = NONE, kind, archived] = parts;
		const [latest = 0, seen = 0, late = 0, lateSeen = 0, floor = 0, older = 0, newer = 0, threads = 0] = parts
			.slice(5, 13)
			.map(Number);
		let place = 13;
		const take = (count: number): Entry[] => {
			const entries = parts.slice(place, place + count).map((packed) => this.entryOf(packed));
			place += count;
			return entries;
		};
		if (mode === 'w') {
			this.timeline = new Timeline(floor);
			this.threads.clear();
			this.named = 0;
		}
		const before = this.stamp;
		this.timeline.prepend(take(older), floor);
		for (const entry of take(newer)) this.timeline.append(entry);
		const missing: number[] = [];
		const found = new Map<number, Timeline>();
		for (let index = 0; index < threads; index += 1) {
			const [root, count] = [Number(parts[place]), Number(parts[place + 1])];
			place += 2;
			if (count < 0) missing.push(root);
			else found.set(root, threadOf(take(count)));
		}
		for (const change of parts.slice(place)) this.change(change, before);
		for (const [root, thread] of found) this.threads.set(root, thread);
		this.timeline.latest = latest;
		if (this.base !== base || before !== Number(stamp)) this.stateNumber += 1;
		checkInvariant('view_never_goes_back', this.base !== base || Number(stamp) >= before);
		this.stamp = Number(stamp);
		this.base = base;
		this.kind = kind as ConversationKind;
		this.archived = archived === '1';
		this.seen = seen;
		this.late = late;
		this.lateSeen = lateSeen;
		return missing.length === 0 ? NOTHING_MISSING : { isAbsent: false, threads: missing };
	}

	/**
	 * Applies effects of this process, if the copy has the state before them. Returns false if it has not, or if the new latest
	 * entry is unknown: the next read brings it up to date.
	 */
	advance({ before, base, seen, late }: Applied, effects: readonly Effect[]): boolean {
		const isBefore = this.isKnown && this.base === base && `${this.stamp}` === before;
		if (!isBefore || effects.some(({ type }) => type === 'deleted')) return false;
		this.startUpdate();
		this.stateNumber += 1;
		this.seen = seen;
		if (late > 0) [this.late, this.lateSeen] = [late, seen];
		for (const effect of effects) {
			this.stamp = effect.at;
			this.archived = effect.conversation.archived;
			if (effect.type !== 'posted' && effect.type !== 'edited') continue;
			const { message } = effect;
			const entry = this.entryOf(packEntry(message));
			const lists = [
				inTimeline(message) ? this.timeline : undefined,
				this.threads.get(message.threadTs ?? 0),
			];
			for (const list of lists)
				if (effect.type === 'edited') list?.update(entry);
				else list?.append(entry);
		}
		return true;
	}

	/** Adds older entries from the store, with their changes since. */
	prependOlder(packed: readonly string[], floor: number): void {
		const { latest } = this.timeline;
		this.startUpdate();
		const entries = packed.map((entry) => this.entryOf(entry));
		this.timeline.prepend(entries, floor);
		this.timeline.latest = latest;
	}

	private startUpdate(): void {
		this.updateNumber += 1;
		this.cachedVersion = '';
	}

	/** `stamp;change;ts;in the timeline;root;entry`. Posts in the timeline are skipped: they arrive with the timeline. */
	private change(packedChange: string, before: number): void {
		const [stamp, change, at, isInTimeline, root, packed = ''] = packedChange.split(';');
		if (Number(stamp) <= before) return;
		const ts = Number(at);
		const thread = this.threads.get(Number(root));
		if (change === 'delete') {
			if (isInTimeline === '1') this.timeline.remove(ts);
			thread?.remove(ts);
			return;
		}
		const entry = this.entryOf(packed);
		if (change === 'edit') {
			if (isInTimeline === '1') this.timeline.update(entry);
			thread?.update(entry);
		} else if (thread && thread.indexOf(ts) < 0) thread.append(entry);
	}

	private entryOf(packed: string): Entry {
		const entry = unpackEntry(packed, (user) => this.numbering.of(user));
		this.named += entry.named.length;
		return entry;
	}
}

function threadOf(entries: readonly Entry[]): Timeline {
	const thread = new Timeline(0);
	thread.prepend(entries, 0);
	return thread;
}
