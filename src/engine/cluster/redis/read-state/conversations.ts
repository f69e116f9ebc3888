import type { Counts } from '../../../../model/counting.ts';
import type { ConversationKind } from '../../../../model/ids.ts';
import { Timeline } from '../../../../model/timeline.ts';
import type { EntryRow, StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../epoch.ts';
import type { Keys } from '../keys.ts';
import { entryArguments, unpackEntry } from './packing.ts';

/**
 * Timelines and threads in Redis: loaded from the store on first use, as far back as somebody counts.
 *
 * Anyone may load what is missing, because whatever the store may not have yet is in Redis: effects are applied
 * to what is loaded only, and edits below the floor are kept beside it. So a load never overwrites.
 */

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 8_192;
const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Counts beyond so many are told as that many. */
const ENTRIES_KEPT = 10_000;
/** A reader who is far behind has it loaded again: not more often than this. */
const TRIMMED_EVERY_MICROS = 3_600_000_000;
const MOST_REMEMBERED = 100_000;

/** Where is counted: the timeline, or one thread of it. */
export interface Where {
	readonly conversation: string;
	readonly threadTs: number | null;
}

export interface Standing {
	readonly kind: ConversationKind;
	readonly archived: boolean;
	/** Stamp of the conversation's newest change. */
	readonly stamp: number;
	/** Newest entry; 0 for none. */
	readonly latest: number;
}

export interface Known extends Standing {
	/** When its newest change came to be seen, in micros; 0 where none did since it was loaded. */
	readonly seen: number;
	/** By how much, at most, a change came to be seen later than it took place; ordinary delays are not noted. */
	readonly late: number;
	/** When the newest such change came to be seen. */
	readonly lateSeen: number;
}

export interface Reading {
	readonly user: string;
	readonly cursor: number;
	readonly ahead?: ReadonlySet<number>;
	readonly activeAt: (ts: number) => boolean;
	/** Nothing after this ts is looked at. */
	readonly upTo?: number;
	/** Enough when so many unread were found. */
	readonly enough?: number;
}

export class Conversations {
	/** When each was looked at for trimming; micros. */
	private readonly trimmed = new Map<string, number>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		private readonly entriesKept = ENTRIES_KEPT,
	) {}

	/** Null: there is no such conversation. */
	async count(where: Where, reading: Reading): Promise<(Standing & { counts: Counts }) | null> {
		const { user, cursor, ahead = [], upTo = '+inf', enough = EVERYTHING } = reading;
		const result = await this.withLoaded(where, cursor, () =>
			this.commands.count(...this.keysOf(where), ...this.lead(where), user, cursor, upTo, enough, ...ahead),
		);
		if (!result) return null;
		const [unread = 0, mentions = 0, named = 0, namedInThreadOnly = 0, ...here] = result.rest.map(Number);
		const counts = {
			unread,
			mentions: mentions + here.filter(reading.activeAt).length,
			named,
			namedInThreadOnly,
		};
		return { ...result.standing, counts };
	}

	/** Entries after a ts (null: none at all), in a numbering that `numberOf` knows. Null: no such conversation. */
	async entries(
		where: Where,
		after: number | null,
		limit = -1,
	): Promise<(Standing & { timeline: Timeline; numberOf: (user: string) => number }) | null> {
		const result = await this.withLoaded(where, after ?? EVERYTHING, () =>
			this.commands.entries(...this.keysOf(where), ...this.lead(where), after ?? '+inf', limit),
		);
		if (!result) return null;
		const numbers = new Map<string, number>();
		const numberOf = (user: string) => {
			const number = numbers.get(user) ?? numbers.size;
			numbers.set(user, number);
			return number;
		};
		const timeline = new Timeline(result.standing.latest);
		if (result.rest.length > 0)
			timeline.prepend(
				result.rest.map((packed) => unpackEntry(packed, numberOf)),
				after ?? 0,
			);
		return { ...result.standing, timeline, numberOf };
	}

	async standing(conversation: string): Promise<Known | null> {
		const where = { conversation, threadTs: null };
		const result = await this.withLoaded(where, EVERYTHING, () =>
			this.commands.standing(this.keys.meta(conversation), this.ttlSeconds),
		);
		if (!result) return null;
		const [seen = 0, late = 0, lateSeen = 0] = result.rest.map(Number);
		return { ...result.standing, seen, late, lateSeen };
	}

	/** Calls a script until what it needs is loaded. */
	private async withLoaded(
		where: Where,
		back: number,
		call: () => Promise<unknown>,
	): Promise<{ standing: Standing; rest: string[] } | null> {
		for (;;) {
			const [state, ...result] = (await call()) as [number, ...string[]];
			if (state === 1) {
				const [kind, archived, stamp, latest, ...rest] = result;
				const standing = {
					kind: kind as ConversationKind,
					archived: archived === '1',
					stamp: Number(stamp),
					latest: Number(latest),
				};
				return { standing, rest };
			}
			if (state === -1) {
				if (!(await this.load(where.conversation))) return null;
			} else if (where.threadTs === null) await this.deepen(where.conversation, back);
			else await this.loadThread(where.conversation, where.threadTs);
		}
	}

	/** Answers false where there is no such conversation. */
	async load(conversation: string): Promise<boolean> {
		const { source, commands, ttlSeconds } = this;
		const keys = this.keysOf({ conversation, threadTs: null });
		let exists = false;
		await this.fence.load(
			async () => {
				const [brief] = await source.briefs([conversation]);
				return { brief, rows: await source.timelineEntries(conversation, 0, EVERYTHING, FIRST_CHUNK) };
			},
			async ({ brief, rows }) => {
				if (!brief) return;
				exists = true;
				const { kind, team, archived, stamp } = brief;
				const latest = rows.at(-1)?.ts ?? 0;
				const state = [kind, team, archived ? 1 : 0, stamp, latest, floorOf(rows, FIRST_CHUNK)];
				await commands.loadConversation(...keys, ttlSeconds, ...state, ...entryArguments(rows));
			},
		);
		return exists;
	}

	/** Loads timeline entries back to this ts, or one piece more where none is given. */
	async deepen(conversation: string, back?: number): Promise<void> {
		const keys = this.keysOf({ conversation, threadTs: null });
		for (let chunk = FIRST_CHUNK; ; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			const told = await this.commands.hget(keys[0], 'floor');
			if (told === null) return;
			const floor = Number(told);
			if (floor === 0 || (back !== undefined && back >= floor)) return;
			await this.fence.load(
				() => this.source.timelineEntries(conversation, 0, floor, chunk),
				(rows) =>
					this.commands.deepen(
						...keys,
						this.ttlSeconds,
						floor,
						floorOf(rows, chunk),
						...entryArguments(rows),
					),
			);
			if (back === undefined) return;
		}
	}

	loadThread(conversation: string, threadTs: number): Promise<void> {
		const key = this.keys.thread(conversation, threadTs);
		return this.fence.load(
			() => this.source.threadEntries(conversation, threadTs, EVERYTHING, EVERYTHING),
			(rows) => this.commands.loadThread(key, this.ttlSeconds, ...entryArguments(rows)),
		);
	}

	/** A conversation that is never idle would grow for ever. */
	async trim(conversation: string, stamp: number, now: number): Promise<void> {
		const last = this.trimmed.get(conversation) ?? 0;
		if (now - last < TRIMMED_EVERY_MICROS) return;
		const keys = this.keysOf({ conversation, threadTs: null });
		const went = (await this.commands.trim(...keys, this.entriesKept, stamp)) as number;
		if (went < 0) return;
		if (this.trimmed.size >= MOST_REMEMBERED) this.trimmed.clear();
		this.trimmed.set(conversation, now);
	}

	private keysOf({ conversation, threadTs }: Where): [string, string] {
		const { keys } = this;
		const entries = threadTs === null ? keys.timeline(conversation) : keys.thread(conversation, threadTs);
		return [keys.meta(conversation), entries];
	}

	private lead({ threadTs }: Where): [number, string] {
		return [this.ttlSeconds, threadTs === null ? 'timeline' : 'thread'];
	}
}

/** How far back a piece of the timeline reaches: to its beginning, where there was less than asked for. */
const floorOf = (rows: readonly EntryRow[], asked: number): number =>
	rows.length < asked ? 0 : (rows[0]?.ts ?? 1) - 1;
