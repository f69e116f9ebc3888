import type { ConversationKind } from '../../../../model/ids.ts';
import { checkInvariant } from '../../../../model/invariants.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import { type Entry, Timeline } from '../../../../model/timeline.ts';
import type { ConversationView } from '../../../../model/views.ts';
import type { ConversationBrief, EntryRow } from '../../../ports/store.ts';
import type { Loadable } from '../../../read-state/timeline-loader.ts';
import {
	type CommandChanges,
	type ConversationChange,
	type EntryChange,
	type SettingsChange,
	unpackCommand,
} from '../read-state/changes.ts';
import { packEntry, unpackEntry } from '../read-state/packing.ts';
import { slotOf } from '../slots.ts';

/**
 * A conversation in the memory of this process: what the store had when it was loaded, and the changes since, which Redis returns
 * (lua/views-1.lua). Rows that are read from the store later may be older than some of these changes, and newer than others. So the
 * copy keeps recent changes and applies them to such rows; and before its next use it is brought up to date with Redis, which has
 * every change that the store has. Each change carries the whole state of a message, so applying it again is harmless.
 */

const NONE = '-';
/** A copy without entries: the object, its maps, its place in the cache. */
const OWN_BYTES = 400;
const ENTRY_BYTES = 13;
const THREAD_BYTES = 200;
const NAMED_BYTES = 60;
const CHANGE_BYTES = 250;
/** More than Redis keeps. */
const MAX_KEPT = 512;

/** Result of applying commands: the stamp before them, when they became visible, and how late that was (0: not unusually late). */
export interface Applied {
	readonly before: string;
	readonly base: string;
	readonly seen: number;
	readonly late: number;
	/** The store has all changes up to this stamp. */
	readonly written: number;
}

export class ConversationCopy implements ConversationView, Loadable {
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
	/** It has the state of the store. Before that, it only has the changes since. */
	isLoaded = false;
	/** It may have rows that are newer than its stamp: bring it up to date before using it. */
	isAhead = false;
	/** Its newest entry was deleted, and the one before is not loaded. */
	isHeadMissing = false;
	/** Rises with every update: answers to earlier requests are dropped. */
	updateNumber = 0;
	/** Rises when it becomes a copy of a different state. */
	stateNumber = 0;
	/** Used since the last eviction. */
	used = true;
	readonly slot: number;
	/** When Redis last renewed the conversation's expiry for this copy, by `performance.now()`. */
	renewedMs = Number.NEGATIVE_INFINITY;
	base = NONE;
	/** Changes after `keptSince`; the store has all earlier ones. */
	private kept: CommandChanges[] = [];
	keptSince = 0;
	private named = 0;
	private cachedVersion = '';

	constructor(
		readonly id: string,
		readonly numbering: Numbering,
	) {
		this.slot = slotOf(id);
	}

	get bytes(): number {
		let entries = this.timeline.size;
		for (const thread of this.threads.values()) entries += thread.size;
		const extras =
			this.threads.size * THREAD_BYTES + this.named * NAMED_BYTES + this.kept.length * CHANGE_BYTES;
		return OWN_BYTES + entries * ENTRY_BYTES + extras;
	}

	/** The value of the conversation's version key in Redis while this copy is current. */
	get version(): string {
		this.cachedVersion ||= `${this.stamp}:${this.base}`;
		return this.cachedVersion;
	}

	/** Redis has recorded its changes, and the copy has them. */
	get isRecorded(): boolean {
		return this.base !== NONE;
	}

	/** For a request of views-1.lua. */
	get identity(): readonly [id: string, stamp: number | string, base: string] {
		return [this.id, this.isRecorded ? this.stamp : NONE, this.base];
	}

	/** If this changes during a read, the rows may lack changes that are no longer in `kept`, and that the copy cannot add to them. */
	get loadVersion(): string {
		return `${this.keptSince} ${this.base}`;
	}

	/** Applies the answer of views-1.lua to a request that was made at the current `updateNumber`. */
	applyAnswer([
		mode,
		stamp,
		base = NONE,
		written,
		seen,
		late,
		lateSeen,
		...commands
	]: readonly string[]): void {
		this.startUpdate();
		if (mode === 'w') this.forget(Number(written));
		checkInvariant('view_never_goes_back', this.base !== base || Number(stamp) >= this.stamp);
		if (this.base !== base || this.stamp !== Number(stamp)) this.stateNumber += 1;
		for (const command of commands) this.add(unpackCommand(command));
		this.trim(Number(written));
		this.stamp = Number(stamp);
		this.base = base;
		[this.seen, this.late, this.lateSeen] = [Number(seen), Number(late), Number(lateSeen)];
		this.isAhead = false;
	}

	/**
	 * Adds the state in the store: undefined if the store does not have the conversation, which then has to be new. Returns false if the
	 * store lacks changes that it had.
	 */
	load(brief: ConversationBrief | undefined): boolean {
		if ((brief?.stamp ?? 0) < this.keptSince) return false;
		const changes = this.kept.flatMap((command) => command.changes);
		const created = changes.find((change) => !('ts' in change) && change.type === 'create') as
			| SettingsChange
			| undefined;
		if (!brief && !created) return false;
		this.startUpdate();
		this.stateNumber += 1;
		this.kind = (brief?.kind ?? created?.kind) as ConversationKind;
		this.archived = brief?.archived ?? false;
		this.timeline = new Timeline(brief?.latest ?? 0);
		this.isLoaded = true;
		this.isAhead = true;
		for (const change of changes) this.apply(change);
		return true;
	}

	/** Applies commands of this process, if the copy has the state before them. Otherwise the next read brings it up to date. */
	advance({ before, base, seen, late, written }: Applied, commands: readonly CommandChanges[]): boolean {
		if (!this.isLoaded || this.base !== base || `${this.stamp}` !== before) return false;
		this.startUpdate();
		this.stateNumber += 1;
		this.seen = seen;
		if (late > 0) [this.late, this.lateSeen] = [late, seen];
		for (const command of commands) {
			if (command.changes.length > 0) this.add(command);
			this.stamp = command.stamp;
		}
		this.trim(written);
		return true;
	}

	/** Adds older entries of the timeline, all that are after `after`. */
	prepend(rows: readonly EntryRow[], after: number): void {
		const { timeline } = this;
		const { latest, floor } = timeline;
		this.startUpdate();
		const entries = this.updated(
			rows,
			(change) => change.isInTimeline && change.ts > after && change.ts <= floor,
		);
		timeline.prepend(entries, after);
		if (!this.isHeadMissing) timeline.latest = latest;
		else if (timeline.size === 0) timeline.latest = after;
		this.isHeadMissing &&= timeline.size === 0 && after > 0;
		this.isAhead = true;
	}

	/** Adds a thread, of which these are all replies. */
	addThread(root: number, rows: readonly EntryRow[]): void {
		this.startUpdate();
		const thread = new Timeline(0);
		thread.prepend(
			this.updated(rows, (change) => change.root === root),
			0,
		);
		this.threads.set(root, thread);
		this.isAhead = true;
	}

	private startUpdate(): void {
		this.updateNumber += 1;
		this.cachedVersion = '';
	}

	private forget(keptSince: number): void {
		this.timeline = new Timeline(0);
		this.threads.clear();
		this.named = 0;
		this.isLoaded = false;
		this.isHeadMissing = false;
		this.kept = [];
		this.keptSince = keptSince;
	}

	private add(command: CommandChanges): void {
		this.kept.push(command);
		if (this.isLoaded) for (const change of command.changes) this.apply(change);
	}

	private trim(written: number): void {
		if (this.kept.length <= MAX_KEPT || written <= this.keptSince) return;
		this.keptSince = written;
		this.kept = this.kept.filter(({ stamp }) => stamp > written);
	}

	private apply(change: ConversationChange): void {
		if (!('ts' in change)) {
			this.archived = change.isArchived;
			return;
		}
		if (change.isInTimeline) this.applyTo(this.timeline, change);
		if (change.isFirstReply && !this.threads.has(change.root)) this.threads.set(change.root, new Timeline(0));
		const thread = this.threads.get(change.root);
		if (thread) this.applyTo(thread, change);
	}

	private applyTo(list: Timeline, { type, ts, entry }: EntryChange): void {
		if (type === 'edit') list.update(this.entryOf(entry));
		else if (type === 'post') {
			// A post that is not newer is in the list, or was deleted since.
			if (ts > list.latest) list.append(this.entryOf(entry));
		} else {
			const wasLatest = ts === list.latest;
			list.remove(ts);
			if (!wasLatest) return;
			// Needed also if `remove` found nothing, because the rows were read after the delete.
			list.latest = list.size > 0 ? list.tsAt(list.size - 1) : list.floor;
			if (list.size === 0 && list.floor > 0) this.isHeadMissing = true;
		}
	}

	/** Rows of the store with the changes that they may lack. */
	private updated(rows: readonly EntryRow[], concerns: (change: EntryChange) => boolean): Entry[] {
		const entries = new Map(rows.map((row) => [row.ts, packEntry(row)]));
		for (const { changes } of this.kept)
			for (const change of changes) {
				if (!('ts' in change) || !concerns(change)) continue;
				const { type, ts, entry } = change;
				if (type === 'delete') entries.delete(ts);
				else if (type === 'post' || entries.has(ts)) entries.set(ts, entry);
			}
		return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => this.entryOf(entry));
	}

	private entryOf(packed: string): Entry {
		const entry = unpackEntry(packed, (user) => this.numbering.of(user));
		this.named += entry.named.length;
		return entry;
	}
}
