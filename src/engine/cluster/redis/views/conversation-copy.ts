import type { ConversationKind } from '../../../../model/ids.ts';
import { hold } from '../../../../model/invariants.ts';
import { inTimeline } from '../../../../model/message.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import { type Entry, Timeline } from '../../../../model/timeline.ts';
import type { ConversationView } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import { packEntry, unpackEntry } from '../read-state/packing.ts';
import { slotOf } from '../slots.ts';

/**
 * A copy of a conversation as it is in Redis, in the memory of this process. It says which one it is, Redis says what changed since
 * (lua/views-1.lua), and that is taken in here. A copy that follows on nothing Redis remembers is taken again as a whole.
 */

const NONE = '-';
/** Of a copy without entries: itself, its maps, its place among the others. */
const OWN_BYTES = 400;
const ENTRY_BYTES = 13;
const THREAD_BYTES = 200;
const NAMED_BYTES = 60;

/** How effects were taken in: the state before them, when they came to be seen, and by how much they were late, 0 where that is ordinary. */
export interface Applied {
	readonly before: string;
	readonly base: string;
	readonly seen: number;
	readonly late: number;
}

/** What an answer asks for before the copy is what was wanted. */
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
	/** When its newest change came to be seen, in micros; 0 where none did since it was loaded. */
	seen = 0;
	/** By how much, at most, a change came to be seen later than it took place; ordinary delays are not noted. */
	late = 0;
	/** When the newest such change came to be seen. */
	lateSeen = 0;
	/** Rises with everything that is taken in: an answer to what was asked before is not taken in. */
	revision = 0;
	/** Rises where it came to be a copy of another state. */
	changes = 0;
	/** Used since somebody looked which ones are not. */
	used = true;
	readonly slot: number;
	private base = NONE;
	private named = 0;
	/** The question that asks for no more than it has, which most are. */
	private plain = '';

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

	/** As the script takes it; with entries after `back`, and these threads. */
	question(back: number | null, threads: readonly number[]): string {
		const { id, stamp, base, timeline, isKnown } = this;
		const isDeeper = back !== null && (!isKnown || back < timeline.floor);
		const missing = threads.length === 0 ? threads : threads.filter((root) => !this.threads.has(root));
		const isPlain = !isDeeper && missing.length === 0;
		if (isPlain && this.plain) return this.plain;
		const edge = Math.max(timeline.latest, timeline.floor);
		const named = `${id} ${isKnown ? stamp : NONE} ${base} ${isPlain ? '=' : '+'} ${edge} ${timeline.floor}`;
		if (!isPlain) return [named, isDeeper ? back : NONE, ...missing].join(' ');
		this.plain = `${named} ${NONE}`;
		return this.plain;
	}

	/** An answer to a question that was asked when it had this revision. */
	takeIn(answer: string): Missing {
		if (answer === '-1') return { isAbsent: true, threads: [] };
		this.begin();
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
		if (this.base !== base || before !== Number(stamp)) this.changes += 1;
		hold('view_never_goes_back', this.base !== base || Number(stamp) >= before);
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
	 * Takes in what this process did itself, where the copy is of the state before. Answers false where it is not, or where what is the
	 * newest then would have to be asked for: it is brought up to date when it is looked at next.
	 */
	advance({ before, base, seen, late }: Applied, effects: readonly Effect[]): boolean {
		const isBefore = this.isKnown && this.base === base && `${this.stamp}` === before;
		if (!isBefore || effects.some(({ type }) => type === 'deleted')) return false;
		this.begin();
		this.changes += 1;
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

	/** Older entries from the store, with what changed among them since. */
	deepen(packed: readonly string[], floor: number): void {
		const { latest } = this.timeline;
		this.begin();
		const entries = packed.map((entry) => this.entryOf(entry));
		this.timeline.prepend(entries, floor);
		this.timeline.latest = latest;
	}

	private begin(): void {
		this.revision += 1;
		this.plain = '';
	}

	/** `stamp;change;ts;in the timeline;root;entry`. What lies in the timeline and was posted came with it. */
	private change(packedChange: string, before: number): void {
		const [stamp, change, at, shown, root, packed = ''] = packedChange.split(';');
		if (Number(stamp) <= before) return;
		const ts = Number(at);
		const thread = this.threads.get(Number(root));
		if (change === 'delete') {
			if (shown === '1') this.timeline.remove(ts);
			thread?.remove(ts);
			return;
		}
		const entry = this.entryOf(packed);
		if (change === 'edit') {
			if (shown === '1') this.timeline.update(entry);
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
