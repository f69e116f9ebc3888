import type { StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { packEntry } from '../read-state/packing.ts';
import type { ConversationCopy } from './conversation-copy.ts';

/**
 * Brings older entries of a timeline into copies, as far back as somebody counts: Redis has the newest ones, and what lies further
 * back is read from the store.
 */

const FIRST_CHUNK = 512;
/** Rows of the store for one step: reading and packing them takes a few milliseconds of everybody else's waiting. */
const LARGEST_CHUNK = 2_048;

/** Lets other work have its turn of the event loop. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Depths {
	private readonly underWay = new Map<ConversationCopy, Promise<void>>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly fence: Fence,
	) {}

	/**
	 * At least a step towards having all entries after `back`; the next look at the copy takes what Redis has by then. One at a time
	 * for each copy: another that comes meanwhile ends with it, and its caller looks whether that was far enough.
	 */
	reach(copy: ConversationCopy, back: number): Promise<void> {
		const underWay = this.underWay.get(copy);
		if (underWay) return underWay;
		const reaching = this.reachOne(copy, back).finally(() => this.underWay.delete(copy));
		this.underWay.set(copy, reaching);
		return reaching;
	}

	private async reachOne(copy: ConversationCopy, back: number): Promise<void> {
		for (let chunk = FIRST_CHUNK; ; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			if (!(await this.step(copy, back, chunk)) || copy.timeline.floor <= back) return;
			await nextTurn();
		}
	}

	/**
	 * What was edited or deleted at or below the floor of Redis stands beside it there, and wins over the store, which may not have
	 * it yet. It is complete as long as floor and base are the same before the store is read and after. What was done since the copy was
	 * looked at last may be in already: taking it in once more changes nothing. Answers false where something moved meanwhile.
	 */
	private async step(copy: ConversationCopy, back: number, chunk: number): Promise<boolean> {
		const { commands, source, fence } = this;
		const meta = this.keys.meta(copy.id);
		const since = await fence.since([copy.id]);
		const [storedFloor, base] = await commands.hmget(meta, 'floor', 'base');
		const { timeline } = copy;
		const upTo = timeline.floor;
		if (storedFloor == null || upTo > Number(storedFloor)) return false;
		const rows = await source.timelineEntries(copy.id, back, upTo, chunk);
		const fields = await commands.hgetall(meta);
		await fence.still(since);
		if (
			fields.floor !== storedFloor ||
			fields.base !== base ||
			copy.timeline !== timeline ||
			timeline.floor !== upTo
		)
			return false;
		const reached = rows.length < chunk ? back : (rows[0]?.ts ?? 1) - 1;
		const entries = new Map(rows.map((row) => [row.ts, packEntry(row)]));
		for (const [field, entry] of Object.entries(fields)) {
			const ts = field.startsWith('b:') ? Number(field.slice(2)) : 0;
			if (ts <= reached || ts > upTo) continue;
			if (entry === '') entries.delete(ts);
			else entries.set(ts, entry);
		}
		copy.deepen(
			[...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry),
			reached,
		);
		return true;
	}
}
