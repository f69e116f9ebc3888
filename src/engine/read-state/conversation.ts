import type { ConversationKind } from '../../model/ids.ts';
import type { Numbering } from '../../model/numbering.ts';
import { type Entry, flagsOf, Timeline } from '../../model/timeline.ts';
import type { ConversationView } from '../../model/views.ts';
import type { EntryRow } from '../ports/store.ts';
import type { CommandChanges, ConversationChange, EntryChange } from './changes.ts';

/**
 * A conversation in memory: what was loaded from the store, and the changes since. Entries and threads are loaded on demand, and rows
 * of the store may lack the newest changes. So a change of an entry or thread that is not loaded is kept until the store has it, and is
 * applied to rows that are loaded in the meantime. A change carries the whole state of its message, so applying it twice is harmless.
 */

const NO_THREADS: ReadonlyMap<number, Timeline> = new Map();

interface KeptChange {
	readonly stamp: number;
	readonly change: ConversationChange;
}

export class LoadedConversation implements ConversationView {
	kind: ConversationKind = 'public';
	archived = false;
	/** Stamp of its newest change. */
	stamp = 0;
	timeline = new Timeline(0);
	/** Its newest entry was deleted, and the one before is not loaded: `timeline.latest` is unknown. */
	isLatestUnknown = false;
	/** Reads of the store in progress: no kept change is dropped meanwhile. */
	reads = 0;
	/** The store has all changes up to this stamp. */
	keptSince = 0;
	/** Changes after `keptSince` to entries or threads that were not loaded at that time. */
	protected kept: KeptChange[] = [];
	/** Upper bound of the number of users that loaded entries name: edits add to it, deletes do not subtract. */
	protected named = 0;
	private ownThreads: Map<number, Timeline> | undefined;

	constructor(
		readonly id: string,
		/** Numbers of users in timelines. */
		readonly numbering: Numbering,
	) {}

	/** Loaded threads; each is complete. */
	get threads(): ReadonlyMap<number, Timeline> {
		return this.ownThreads ?? NO_THREADS;
	}

	apply({ stamp, changes }: CommandChanges): void {
		for (const change of changes) this.applyOrKeep(stamp, change);
		this.stamp = stamp;
	}

	protected applyOrKeep(stamp: number, change: ConversationChange): void {
		if (!this.applyChange(change)) this.kept.push({ stamp, change });
	}

	/** Returns false if a part that the change concerns is not loaded. */
	private applyChange(change: ConversationChange): boolean {
		if (!('row' in change)) {
			this.archived = change.isArchived;
			return true;
		}
		const { row, root, isInTimeline, isFirstReply } = change;
		const isLoaded = !isInTimeline || row.ts > this.timeline.floor;
		if (isInTimeline) this.applyTo(this.timeline, change);
		if (root === 0) return isLoaded;
		if (isFirstReply && !this.threads.has(root)) this.setThread(root, new Timeline(0));
		const thread = this.threads.get(root);
		if (thread) this.applyTo(thread, change);
		return isLoaded && thread !== undefined;
	}

	private applyTo(list: Timeline, { type, row }: EntryChange): void {
		const { ts } = row;
		if (type === 'edit') list.update(this.entryOf(row));
		else if (type === 'post') {
			// A post that is not newer is in the list, or was deleted since.
			if (ts <= list.latest) return;
			list.append(this.entryOf(row));
			if (list === this.timeline) this.isLatestUnknown = false;
		} else {
			const wasLatest = ts === list.latest;
			list.remove(ts);
			if (!wasLatest) return;
			// Needed also if `remove` found nothing, because the entry was not loaded.
			list.latest = list.size > 0 ? list.tsAt(list.size - 1) : list.floor;
			if (list.size === 0 && list.floor > 0) this.isLatestUnknown = true;
		}
	}

	/** Adds older entries of the timeline, all that are after `after`. */
	prepend(rows: readonly EntryRow[], after: number): void {
		const { timeline } = this;
		const { latest, floor } = timeline;
		const isInRange = ({ isInTimeline, row: { ts } }: EntryChange) =>
			isInTimeline && ts > after && ts <= floor;
		timeline.prepend(this.updated(rows, isInRange), after);
		if (!this.isLatestUnknown) timeline.latest = latest;
		else if (timeline.size === 0) timeline.latest = after;
		this.isLatestUnknown &&= timeline.size === 0 && after > 0;
	}

	/** Adds a thread, of which these are all replies. */
	addThread(root: number, rows: readonly EntryRow[]): void {
		const thread = new Timeline(0);
		const replies = this.updated(rows, (change) => change.root === root);
		thread.prepend(replies, 0);
		this.setThread(root, thread);
	}

	private setThread(root: number, thread: Timeline): void {
		this.ownThreads ??= new Map();
		this.ownThreads.set(root, thread);
	}

	protected clearThreads(): void {
		this.ownThreads = undefined;
	}

	/** The store has all changes up to this stamp: drops the kept ones among them, if more than `most` changes are kept. */
	trim(written: number, most = 0): void {
		if (this.kept.length <= most || written <= this.keptSince || this.reads > 0) return;
		this.keptSince = written;
		this.kept = this.kept.filter(({ stamp }) => stamp > written);
	}

	/** Rows of the store with the changes that they may lack. */
	private updated(rows: readonly EntryRow[], concerns: (change: EntryChange) => boolean): Entry[] {
		if (this.kept.length === 0) return rows.map((row) => this.entryOf(row));
		const current = new Map(rows.map((row) => [row.ts, row]));
		for (const { change } of this.kept) {
			if (!('row' in change) || !concerns(change)) continue;
			const { type, row } = change;
			if (type === 'delete') current.delete(row.ts);
			else if (type === 'post' || current.has(row.ts)) current.set(row.ts, row);
		}
		return [...current.values()].sort((a, b) => a.ts - b.ts).map((row) => this.entryOf(row));
	}

	private entryOf(row: EntryRow): Entry {
		const named = row.named.map((user) => this.numbering.of(user));
		this.named += named.length;
		return { ts: row.ts, author: this.numbering.of(row.user), flags: flagsOf(row), named };
	}
}
