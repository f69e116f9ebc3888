import { nextTurn } from '../../../../model/next-turn.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { packEntry } from '../read-state/packing.ts';
import type { ConversationCopy } from './conversation-copy.ts';

/**
 * Loads older entries of a timeline into copies, as far back as a reader counts: Redis has the newest ones, the store has the
 * others.
 */

const FIRST_CHUNK = 512;
/** Rows per read: reading and packing them delays other work by a few milliseconds. */
const LARGEST_CHUNK = 2_048;

export class OlderEntries {
	private readonly inProgress = new Map<ConversationCopy, Promise<void>>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly fence: Fence,
	) {}

	/**
	 * Loads at least one chunk towards `after`; the next read of the copy adds what Redis has by then. One load at a time
	 * per copy: concurrent callers share it, and check whether it was enough.
	 */
	load(copy: ConversationCopy, after: number): Promise<void> {
		const inProgress = this.inProgress.get(copy);
		if (inProgress) return inProgress;
		const loading = this.loadAll(copy, after).finally(() => this.inProgress.delete(copy));
		this.inProgress.set(copy, loading);
		return loading;
	}

	private async loadAll(copy: ConversationCopy, after: number): Promise<void> {
		for (let chunk = FIRST_CHUNK; ; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			if (!(await this.loadChunk(copy, after, chunk)) || copy.timeline.floor <= after) return;
			await nextTurn();
		}
	}

	/**
	 * Redis has edits and deletes at or below its floor as fields, and they win over the store, which may not have
	 * them yet. They are complete if floor and base are the same before and after reading the store. Changes since the copy was last read may
	 * already be included: applying them again changes nothing. Resolves to false if something changed in the meantime.
	 */
	private async loadChunk(copy: ConversationCopy, after: number, chunk: number): Promise<boolean> {
		const { commands, source, fence } = this;
		const meta = this.keys.meta(copy.id);
		const fencePoint = await fence.begin([copy.id]);
		const [storedFloor, base] = await commands.hmget(meta, 'floor', 'base');
		const { timeline } = copy;
		const upTo = timeline.floor;
		if (storedFloor == null || upTo > Number(storedFloor)) return false;
		const rows = await source.timelineEntries(copy.id, after, upTo, chunk);
		const fields = await commands.hgetall(meta);
		await fence.verifyEpochs(fencePoint);
		if (
			fields.floor !== storedFloor ||
			fields.base !== base ||
			copy.timeline !== timeline ||
			timeline.floor !== upTo
		)
			return false;
		const reached = rows.length < chunk ? after : (rows[0]?.ts ?? 1) - 1;
		const entries = new Map(rows.map((row) => [row.ts, packEntry(row)]));
		for (const [field, entry] of Object.entries(fields)) {
			const ts = field.startsWith('b:') ? Number(field.slice(2)) : 0;
			if (ts <= reached || ts > upTo) continue;
			if (entry === '') entries.delete(ts);
			else entries.set(ts, entry);
		}
		copy.prependOlder(
			[...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry),
			reached,
		);
		return true;
	}
}
