import type { ConversationKind } from '../../../../model/ids.ts';
import { checkInvariant } from '../../../../model/invariants.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import { Timeline } from '../../../../model/timeline.ts';
import type { ConversationBrief, EntryRow } from '../../../ports/store.ts';
import type { CommandChanges, SettingsChange } from '../../../read-state/changes.ts';
import { LoadedConversation } from '../../../read-state/conversation.ts';
import { slotOf } from '../slots.ts';
import { STORED, unpackCommand } from './packing.ts';

/** `base` of a copy without state. */
const NONE = '';
/** A copy without entries: the object, its maps, its place in the cache. */
const OWN_BYTES = 400;
const ENTRY_BYTES = 13;
const THREAD_BYTES = 200;
const NAMED_BYTES = 60;
const CHANGE_BYTES = 250;
/** More changes than Redis keeps once the store has them. */
const MAX_KEPT = 512;

/** Result of applying commands: the stamp before them, when they became visible, and how late that was (0: not unusually late). */
export interface Applied {
	readonly before: number;
	readonly base: string;
	readonly seen: number;
	readonly late: number;
	/** The store has all changes up to this stamp. */
	readonly stored: number;
}

/**
 * A conversation in the memory of this process: the state of the store when it was loaded, and the changes since, which Redis returns
 * (lua/views-1.lua). Rows that are read from the store later may be newer than the copy. So before its next use the copy is brought up
 * to date with Redis, which gets each change before the store does.
 */
export class ConversationCopy extends LoadedConversation {
	/** When its newest change became visible, in microseconds; 0 if Redis has returned no change of it. */
	seen = 0;
	/** The longest delay between a change and its visibility; usual delays are not recorded. */
	late = 0;
	/** When the newest of these late changes became visible. */
	lateSeen = 0;
	/** It has the state of the store. Before that, it only has changes that Redis returned. */
	isLoaded = false;
	/** It may have rows that are newer than its stamp: bring it up to date before using it. */
	mayHaveNewerRows = false;
	/** Rises with every update: answers to earlier requests are dropped. */
	updateNumber = 0;
	/** Rises when it becomes a copy of a different state. */
	stateNumber = 0;
	/** Used since the last eviction. */
	used = true;
	readonly slot: number;
	/** When Redis last confirmed it, by `performance.now()`. */
	checkedMs = 0;
	/** When Redis began to record its changes; `STORED` while it has recorded none. */
	base = NONE;
	/** The epoch in which it was loaded. */
	private epoch = '';
	private cachedVersion = '';

	constructor(id: string, numbering: Numbering) {
		super(id, numbering);
		this.slot = slotOf(id);
	}

	get bytes(): number {
		let entries = this.timeline.size;
		for (const thread of this.threads.values()) entries += thread.size;
		const extras =
			this.threads.size * THREAD_BYTES + this.named * NAMED_BYTES + this.kept.length * CHANGE_BYTES;
		return OWN_BYTES + entries * ENTRY_BYTES + extras;
	}

	/** The value of the conversation's version key in Redis while this copy is current; `STORED` if there is none. */
	get version(): string {
		this.cachedVersion ||= this.base === STORED ? STORED : `${this.stamp}:${this.base}:${this.lateSeen}`;
		return this.cachedVersion;
	}

	/** Redis has answered, and the state of the store has to be added. */
	get needsStore(): boolean {
		return !this.isLoaded && this.base !== NONE;
	}

	/** Whether its content is complete. The caller must still compare it with Redis. */
	get isUsable(): boolean {
		return this.isLoaded && !this.mayHaveNewerRows && !this.isLatestUnknown;
	}

	/**
	 * Drops the state of the store if it was loaded in another epoch, or last confirmed before `since`: changes may have been recorded
	 * and expired in between.
	 */
	expire(epoch: string, since: number): void {
		if (this.base === STORED && (this.epoch !== epoch || this.checkedMs < since)) this.restart(NONE, 0);
	}

	/** Redis has no change of it, so the store has everything. */
	startFromStore(epoch: string): void {
		this.restart(STORED, 0);
		this.epoch = epoch;
		this.checkedMs = performance.now();
	}

	/** Applies the answer of views-1.lua to a request that was made at the current `updateNumber`. */
	applyAnswer(answer: readonly string[]): void {
		const [mode, stamp, base = NONE, written, seen, late, lateSeen, ...commands] = answer;
		if (mode === 'w') this.restart(base, Number(written));
		checkInvariant('view_never_goes_back', this.base !== base || Number(stamp) >= this.stamp);
		this.startUpdate(this.base !== base || this.stamp !== Number(stamp));
		this.base = base;
		for (const command of commands.map(unpackCommand))
			if (this.isLoaded) this.apply(command);
			else for (const change of command.changes) this.kept.push({ stamp: command.stamp, change });
		this.stamp = Number(stamp);
		this.trim(Number(written), MAX_KEPT);
		[this.seen, this.late, this.lateSeen] = [Number(seen), Number(late), Number(lateSeen)];
		this.mayHaveNewerRows = false;
	}

	/**
	 * Adds the state in the store. Undefined: the store does not have the conversation; then the kept changes must include its
	 * creation. Returns false if they do not, or if the store lacks changes that it had.
	 */
	load(brief: ConversationBrief | undefined): boolean {
		if ((brief?.stamp ?? 0) < this.keptSince) return false;
		const since = this.kept;
		const created = since.find(({ change }) => change.type === 'create')?.change as
			| SettingsChange
			| undefined;
		if (!brief && !created) return false;
		this.startUpdate();
		this.kind = (brief?.kind ?? created?.kind) as ConversationKind;
		this.archived = brief?.archived ?? false;
		this.timeline = new Timeline(brief?.latest ?? 0);
		if (this.base === STORED) this.stamp = this.keptSince = brief?.stamp ?? 0;
		this.isLoaded = true;
		this.mayHaveNewerRows = true;
		this.kept = [];
		for (const { stamp, change } of since) this.applyOrKeep(stamp, change);
		return true;
	}

	/** Applies commands of this process, if the copy has the state before them. Otherwise the next read brings it up to date. */
	advance({ before, base, seen, late, stored }: Applied, commands: readonly CommandChanges[]): boolean {
		if (!this.isLoaded || this.base !== base || this.stamp !== before) return false;
		this.startUpdate();
		this.seen = seen;
		if (late > 0) [this.late, this.lateSeen] = [late, seen];
		for (const command of commands) if (command.stamp > before) this.apply(command);
		this.trim(stored, MAX_KEPT);
		return true;
	}

	override prepend(rows: readonly EntryRow[], after: number): void {
		this.startUpdate(false);
		super.prepend(rows, after);
		this.mayHaveNewerRows = true;
	}

	override addThread(root: number, rows: readonly EntryRow[]): void {
		this.startUpdate(false);
		super.addThread(root, rows);
		this.mayHaveNewerRows = true;
	}

	private startUpdate(isOtherState = true): void {
		this.updateNumber += 1;
		if (isOtherState) this.stateNumber += 1;
		this.cachedVersion = '';
	}

	/** Drops everything; changes after `keptSince` follow. */
	private restart(base: string, keptSince: number): void {
		this.startUpdate();
		this.base = base;
		this.stamp = 0;
		this.timeline = new Timeline(0);
		this.clearThreads();
		this.named = 0;
		this.isLoaded = false;
		this.isLatestUnknown = false;
		this.kept = [];
		this.keptSince = keptSince;
	}
}
