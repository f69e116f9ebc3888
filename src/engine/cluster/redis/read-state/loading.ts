import { COUNT_CAP } from '../../../../model/counting.ts';
import type { ConversationBrief, EntryRow, StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { EpochToken, Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf } from '../slots.ts';
import { entryArguments } from './packing.ts';

/**
 * Loads timelines and threads into Redis, and trims long timelines.
 *
 * Any process may load, because Redis has everything that the store may not have yet: effects are applied
 * only to loaded state, and edits below the floor are stored next to it. So a load never overwrites; only a repair
 * does, which gives the conversation a new base. Loads of threads name the base, and are rejected if it is outdated.
 */

const FIRST_CHUNK = 128;
/** Conversations per load. */
const CONVERSATIONS_PER_LOAD = 500;
const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** 2,000 more than a count can show, because a user's own messages do not count: so a count rarely needs the store. */
const MAX_ENTRIES = COUNT_CAP + 2_000;
/** How often a conversation that is never idle is trimmed. */
const TRIM_EVERY_MICROS = 3_600_000_000;
const MAX_TRACKED = 100_000;
export interface RetentionOptions {
	/** Maximum number of entries of a timeline in Redis after a load or a trim. */
	readonly entries?: number;
	readonly trimEveryMicros?: number;
}

/** A conversation in the store, with its newest entries. */
interface Stored {
	readonly brief: ConversationBrief;
	readonly rows: readonly EntryRow[];
	readonly floor: number;
}

/** State in Redis before the store was read. */
type ExpectedState = readonly [stamp: string, base: string];
const NOT_LOADED: ExpectedState = ['', ''];

export class Loading {
	/** When each conversation was last trimmed, in microseconds. */
	private readonly trimmed = new Map<string, number>();
	private readonly inProgress = new Map<string, Promise<ReadonlySet<string>>>();
	private readonly mostEntries: number;
	private readonly trimEveryMicros: number;
	private readonly nodeOf: (tag: string) => string;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		{ entries = MAX_ENTRIES, trimEveryMicros = TRIM_EVERY_MICROS }: RetentionOptions = {},
	) {
		this.mostEntries = entries;
		this.nodeOf = nodesOf(commands);
		this.trimEveryMicros = trimEveryMicros;
	}

	/** Resolves to those that exist. Waits for loads in progress. */
	async load(conversations: readonly string[]): Promise<ReadonlySet<string>> {
		const fresh = conversations.filter((id) => !this.inProgress.has(id));
		// Grouped by node, so that a lost node does not delay the others.
		for (const ofNode of Map.groupBy(fresh, this.nodeOf).values())
			for (let from = 0; from < ofNode.length; from += CONVERSATIONS_PER_LOAD) {
				const some = ofNode.slice(from, from + CONVERSATIONS_PER_LOAD);
				const loading = this.loadTogether(some).finally(() => {
					for (const id of some) this.inProgress.delete(id);
				});
				for (const id of some) this.inProgress.set(id, loading);
			}
		const found = await Promise.all(conversations.map((id) => this.inProgress.get(id)));
		return new Set(conversations.filter((id, index) => found[index]?.has(id)));
	}

	/** Resolves to those that exist. */
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

	/** Reloads a conversation from the store; its threads follow on first use. */
	async reload(id: string): Promise<'repaired' | RepairProblem> {
		const [stamp, base] = await this.commands.hmget(this.keys.meta(id), 'stamp', 'base');
		// Not loaded: the next use loads it from the store.
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
		const chunk = Math.min(FIRST_CHUNK, this.mostEntries);
		// Stamps first: newer entries will be applied again, which changes nothing.
		const briefs = await this.source.briefs(conversations);
		const ranges = briefs.map(({ id }) => ({ conversation: id, after: 0, upTo: EVERYTHING }));
		const entries = await this.source.timelinesOf(ranges, chunk);
		return briefs.map((brief) => {
			const rows = entries.get(brief.id) ?? [];
			return { brief, rows, floor: floorOf(rows, chunk) };
		});
	}

	/** Resolves to false if the conversation has changed since the store was read. */
	private async write(
		{ brief, rows, floor }: Stored,
		token: EpochToken,
		expected: ExpectedState,
	): Promise<boolean> {
		const { id, kind, team, archived, stamp } = brief;
		const state = [kind, team, archived ? 1 : 0, stamp, rows.at(-1)?.ts ?? 0, floor];
		const lead = [...this.timelineKeys(id), this.keys.version(id), ...token, this.ttlSeconds, ...expected];
		return (await this.commands.loadConversation(...lead, ...state, ...entryArguments(rows))) === 1;
	}

	/** The newest timeline message except the one at `ts`, if Redis has no other; 0 for none. */
	async newestBesides(conversation: string, ts: number): Promise<number> {
		const { floor, ...state } = await this.commands.hgetall(this.keys.meta(conversation));
		for (let upTo = Number(floor ?? 0); ; ) {
			const rows = await this.source.timelineEntries(conversation, 0, upTo, FIRST_CHUNK);
			// Redis has the deletes below its floor as fields `b:<ts>`.
			const found = rows.findLast((row) => row.ts !== ts && state[`b:${row.ts}`] !== '');
			if (found || rows.length < FIRST_CHUNK) return found?.ts ?? 0;
			upTo = (rows[0] as EntryRow).ts - 1;
		}
	}

	async loadThread(conversation: string, threadTs: number): Promise<void> {
		const meta = this.keys.meta(conversation);
		const base = await this.commands.hget(meta, 'base');
		// The conversation has to be loaded first.
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

	/** A conversation that is never idle would grow without limit. */
	async trim(conversation: string, stamp: number, now: number): Promise<void> {
		const last = this.trimmed.get(conversation) ?? 0;
		if (now - last < this.trimEveryMicros) return;
		const keys = this.timelineKeys(conversation);
		const evicted = (await this.commands.trim(...keys, this.mostEntries, stamp)) as number;
		if (evicted < 0) return;
		if (this.trimmed.size >= MAX_TRACKED) this.trimmed.clear();
		this.trimmed.set(conversation, now);
	}

	private timelineKeys(conversation: string): [string, string] {
		return [this.keys.meta(conversation), this.keys.timeline(conversation)];
	}
}

/** The floor of a chunk: 0 if it reaches the beginning of the timeline. */
const floorOf = (rows: readonly EntryRow[], asked: number): number =>
	rows.length < asked ? 0 : (rows[0]?.ts ?? 1) - 1;
