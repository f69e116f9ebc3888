import { COUNT_CAP } from '../../../../model/counting.ts';
import type { ConversationBrief, EntryRow, StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { Fence, Token } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf } from '../nodes.ts';
import { entryArguments } from './packing.ts';

/**
 * Loads timelines and threads into Redis, and trims long timelines.
 *
 * Anyone may load what is missing, because whatever the store may not have yet is in Redis: effects are applied
 * to what is loaded only, and edits below the floor are kept beside it. So a load never overwrites; but for a conversation that is
 * repaired, which gets another base. Loads of its threads name the base, and those of before are refused.
 */

const FIRST_CHUNK = 128;
/** Conversations that are loaded together. */
const AT_ONCE = 500;
const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Counts are capped at 10,000; with some of the user's own messages in between, Redis alone suffices. */
const ENTRIES_KEPT = COUNT_CAP + 2_000;
/** A conversation that is never idle is looked at so often whether it has grown. */
const TRIM_EVERY_MICROS = 3_600_000_000;
const MOST_REMEMBERED = 100_000;
export interface Keeping {
	/** Entries of a timeline that are loaded at most, and that stay when it is trimmed. */
	readonly entries?: number;
	readonly trimEveryMicros?: number;
}

/** What the store has of a conversation: its newest entries. */
interface Stored {
	readonly brief: ConversationBrief;
	readonly rows: readonly EntryRow[];
	readonly floor: number;
}

/** As it was in Redis before the store was asked. */
type Was = readonly [stamp: string, base: string];
const NOT_LOADED: Was = ['', ''];

export class Loading {
	/** When each was looked at for trimming; micros. */
	private readonly trimmed = new Map<string, number>();
	private readonly underWay = new Map<string, Promise<ReadonlySet<string>>>();
	private readonly entriesKept: number;
	private readonly trimEveryMicros: number;
	private readonly nodeOf: (tag: string) => string;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		{ entries = ENTRIES_KEPT, trimEveryMicros = TRIM_EVERY_MICROS }: Keeping = {},
	) {
		this.entriesKept = entries;
		this.nodeOf = nodesOf(commands);
		this.trimEveryMicros = trimEveryMicros;
	}

	/** Answers which of them there are. Those that are being loaded already are waited for. */
	async load(conversations: readonly string[]): Promise<ReadonlySet<string>> {
		const fresh = conversations.filter((id) => !this.underWay.has(id));
		// A node that is lost holds up nobody who asks for what is on another.
		for (const ofOne of Map.groupBy(fresh, this.nodeOf).values())
			for (let from = 0; from < ofOne.length; from += AT_ONCE) {
				const some = ofOne.slice(from, from + AT_ONCE);
				const loading = this.loadTogether(some).finally(() => {
					for (const id of some) this.underWay.delete(id);
				});
				for (const id of some) this.underWay.set(id, loading);
			}
		const found = await Promise.all(conversations.map((id) => this.underWay.get(id)));
		return new Set(conversations.filter((id, index) => found[index]?.has(id)));
	}

	/** Answers which of them there are. */
	private async loadTogether(conversations: readonly string[]): Promise<ReadonlySet<string>> {
		const found = new Set<string>();
		await this.fence.load(
			conversations,
			() => this.read(conversations),
			(all, tokenOf) =>
				Promise.all(
					all.map((one) => {
						found.add(one.brief.id);
						return this.write(one, tokenOf(one.brief.id), NOT_LOADED);
					}),
				),
		);
		return found;
	}

	/** Takes a conversation from the store again, its threads on first use. */
	async reload(id: string): Promise<'repaired' | RepairProblem> {
		const [stamp, base] = await this.commands.hmget(this.keys.meta(id), 'stamp', 'base');
		// Not loaded: it comes from the store in any case.
		if (stamp == null || base == null) return 'repaired';
		let outcome: 'repaired' | RepairProblem = 'store_behind';
		await this.fence.load(
			[id],
			() => this.read([id]),
			async ([stored], tokenOf) => {
				if (!stored || stored.brief.stamp < Number(stamp)) return;
				outcome = (await this.write(stored, tokenOf(id), [stamp, base])) ? 'repaired' : 'changing';
			},
		);
		return outcome;
	}

	private async read(conversations: readonly string[]): Promise<Stored[]> {
		const chunk = Math.min(FIRST_CHUNK, this.entriesKept);
		// The stamps first: entries that are newer are taken in once more, which changes nothing.
		const briefs = await this.source.briefs(conversations);
		const ranges = briefs.map(({ id }) => ({ conversation: id, after: 0, upTo: EVERYTHING }));
		const entries = await this.source.timelinesOf(ranges, chunk);
		return briefs.map((brief) => {
			const rows = entries.get(brief.id) ?? [];
			return { brief, rows, floor: floorOf(rows, chunk) };
		});
	}

	/** Answers whether it was as it had been before the store was asked. */
	private async write({ brief, rows, floor }: Stored, token: Token, was: Was): Promise<boolean> {
		const { id, kind, team, archived, stamp } = brief;
		const state = [kind, team, archived ? 1 : 0, stamp, rows.at(-1)?.ts ?? 0, floor];
		const lead = [...this.timelineKeys(id), ...token, this.ttlSeconds, ...was];
		return (await this.commands.loadConversation(...lead, ...state, ...entryArguments(rows))) === 1;
	}

	/** The newest message of the timeline besides the one at `ts`, where Redis has no other; 0 for none. */
	async newestBesides(conversation: string, ts: number): Promise<number> {
		const { floor, ...state } = await this.commands.hgetall(this.keys.meta(conversation));
		for (let upTo = Number(floor ?? 0); ; ) {
			const rows = await this.source.timelineEntries(conversation, 0, upTo, FIRST_CHUNK);
			// What was deleted below the floor stands beside it.
			const found = rows.findLast((row) => row.ts !== ts && state[`b:${row.ts}`] !== '');
			if (found || rows.length < FIRST_CHUNK) return found?.ts ?? 0;
			upTo = (rows[0] as EntryRow).ts - 1;
		}
	}

	async loadThread(conversation: string, threadTs: number): Promise<void> {
		const meta = this.keys.meta(conversation);
		const base = await this.commands.hget(meta, 'base');
		// The conversation is not loaded, which comes first.
		if (base === null) return;
		const lead = [meta, this.keys.thread(conversation, threadTs)];
		return this.fence.load(
			[conversation],
			() => this.source.threadEntries(conversation, threadTs, EVERYTHING, EVERYTHING),
			(rows, tokenOf) =>
				this.commands.loadThread(
					...lead,
					...tokenOf(conversation),
					this.ttlSeconds,
					base,
					...entryArguments(rows),
				),
		);
	}

	/** A conversation that is never idle would grow for ever. */
	async trim(conversation: string, stamp: number, now: number): Promise<void> {
		const last = this.trimmed.get(conversation) ?? 0;
		if (now - last < this.trimEveryMicros) return;
		const keys = this.timelineKeys(conversation);
		const went = (await this.commands.trim(...keys, this.entriesKept, stamp)) as number;
		if (went < 0) return;
		if (this.trimmed.size >= MOST_REMEMBERED) this.trimmed.clear();
		this.trimmed.set(conversation, now);
	}

	private timelineKeys(conversation: string): [string, string] {
		return [this.keys.meta(conversation), this.keys.timeline(conversation)];
	}
}

/** How far back a piece of the timeline reaches: to its beginning, where there was less than asked for. */
const floorOf = (rows: readonly EntryRow[], asked: number): number =>
	rows.length < asked ? 0 : (rows[0]?.ts ?? 1) - 1;
