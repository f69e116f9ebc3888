import { COUNT_CAP, type Counts, countUnread } from '../../../../model/counting.ts';
import type { Timeline } from '../../../../model/timeline.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf, Together } from '../together.ts';
import { type Answer, answerOf, countsOf, partsOf, type Standing, sumOf, timelineOf } from './answers.ts';
import { allBetween, type FarEntries, firstAfter, unreadBetween, withChanges } from './far-back.ts';
import type { Loading } from './loading.ts';

/**
 * Timelines and threads in Redis: loaded on first use, as far back as somebody counts and Redis is to keep (loading.ts). What
 * lies further back is read from the store by whoever needs it (far-back.ts).
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Whatever floor it has. */
const ANY_FLOOR = '';
/** Where scripts take strings: not given. */
const NONE = '-';

/** Where is counted: the timeline, or one thread of it. */
export interface Where {
	readonly conversation: string;
	readonly threadTs: number | null;
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

/** Entries, in a numbering that `numberOf` knows. */
export interface Entries extends Standing {
	readonly timeline: Timeline;
	readonly numberOf: (user: string) => number;
	/** Up to this ts no entry is missing. */
	readonly known: number;
}

const FAR_BACK = 'far back';

export class Conversations {
	private readonly counting: Together;
	private readonly standings: Together;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		private readonly loading: Loading,
	) {
		const common = [ttlSeconds, keys.prefix];
		const nodeOf = nodesOf(commands);
		this.counting = new Together((...all) => commands.counts(...all), keys.meta, common, nodeOf);
		this.standings = new Together((...all) => commands.standings(...all), keys.meta, common, nodeOf);
	}

	/** Null: there is no such conversation. */
	async count(where: Where, reading: Reading): Promise<(Standing & { counts: Counts }) | null> {
		const { user, cursor, ahead = [], upTo = '+inf', enough = NONE } = reading;
		const { conversation, threadTs } = where;
		const script = (floor: number | typeof NONE) => {
			const about = [conversation, threadTs ?? NONE, user, cursor, upTo, enough, floor, ...ahead];
			return this.counting.ask(conversation, about.join(' ')).then(partsOf);
		};
		for (;;) {
			const answer = await this.withLoaded(where, cursor, () => script(NONE));
			if (answer === null) return null;
			if (answer !== FAR_BACK) return { ...answer.standing, counts: countsOf(answer.rest, reading.activeAt) };
			const counted = await this.countFarBack(where.conversation, reading, script);
			if (counted) return counted;
		}
	}

	/** What Redis has and what the store has, added up. Null: it is another floor by now, to be begun again. */
	private async countFarBack(
		conversation: string,
		reading: Reading,
		script: (floor: number) => Promise<unknown>,
	): Promise<(Standing & { counts: Counts }) | null> {
		const { user, cursor, ahead = new Set(), activeAt, upTo = EVERYTHING } = reading;
		const { enough = COUNT_CAP + 1 } = reading;
		for (let wanted = 0; ; wanted = Math.max(enough, wanted * 2)) {
			const read = await this.withStore(conversation, cursor, script, (floor) =>
				unreadBetween(this.source, conversation, reading, Math.min(floor, upTo), wanted),
			);
			if (!read) return null;
			const { standing, rest, changes, far } = read;
			const above = countsOf(rest, activeAt);
			if (standing.archived) return { ...standing, counts: above };
			const { timeline, numberOf } = timelineOf(withChanges(far, changes, cursor), standing.latest, cursor);
			const reader = { number: numberOf(user), cursor, ahead, activity: { isActiveAt: activeAt } };
			const below = countUnread(timeline, reader, Number.POSITIVE_INFINITY);
			const counts = sumOf(above, below);
			if (far.whole || counts.unread >= enough) return { ...standing, counts };
		}
	}

	/** Entries after a ts (null: none at all), up to another. Null: no such conversation. */
	entries(where: Where, after: number | null, upTo = EVERYTHING): Promise<Entries | null> {
		return this.entriesBy(where, after ?? EVERYTHING, { upTo }, (floor) =>
			allBetween(this.source, where.conversation, after ?? 0, Math.min(floor, upTo)),
		);
	}

	/** The first so many after a ts. */
	firstEntries(conversation: string, after: number, first: number): Promise<Entries | null> {
		return this.entriesBy({ conversation, threadTs: null }, after, { first }, (floor) =>
			firstAfter(this.source, conversation, after, floor, first),
		);
	}

	/** After the reader's cursor; of more than so many unread, the newest, and what mentions the reader. */
	unreadEntries(conversation: string, reading: Reading, most: number): Promise<Entries | null> {
		return this.entriesBy({ conversation, threadTs: null }, reading.cursor, {}, (floor) =>
			unreadBetween(this.source, conversation, reading, floor, most),
		);
	}

	private async entriesBy(
		where: Where,
		after: number,
		{ upTo = EVERYTHING, first = -1 }: { readonly upTo?: number; readonly first?: number },
		readFar: (floor: number) => Promise<FarEntries>,
	): Promise<Entries | null> {
		const { conversation } = where;
		const bounds = [after === EVERYTHING ? '+inf' : after, upTo === EVERYTHING ? '+inf' : upTo, first];
		const script = (floor: number | typeof ANY_FLOOR) =>
			this.commands.entries(...this.keysOf(where), ...this.lead(where), ...bounds, floor);
		for (;;) {
			const answer = await this.withLoaded(where, after, () => script(ANY_FLOOR));
			if (answer === null) return null;
			if (answer !== FAR_BACK) {
				const { standing, rest } = answer;
				return { ...standing, ...timelineOf(rest, standing.latest, after), known: knownOf(rest) };
			}
			const read = await this.withStore(conversation, after, script, readFar);
			if (!read) continue;
			const { standing, rest, changes } = read;
			const far = withChanges(read.far, changes, after);
			// Where not all of what lies further back was read, the rest does not follow on it.
			const isCut = first >= 0 && !read.far.whole;
			const timeline = timelineOf(isCut ? far : [...far, ...rest], standing.latest, after);
			return { ...standing, ...timeline, known: isCut ? read.far.upTo : knownOf(rest) };
		}

		function knownOf(entries: readonly string[]): number {
			return first >= 0 && entries.length === first ? Number.parseInt(entries.at(-1) ?? '', 10) : EVERYTHING;
		}
	}

	/**
	 * Reads from the store what lies at or below the floor, and then calls the script, which tells of everything above and of
	 * changes below, if the floor is still the same: so together they are the timeline as the script saw it. Null: it
	 * is not as it was, to be begun again.
	 */
	private async withStore(
		conversation: string,
		after: number,
		script: (floor: number) => Promise<unknown>,
		readFar: (floor: number) => Promise<FarEntries>,
	): Promise<(Answer & { readonly far: FarEntries }) | null> {
		const floor = Number((await this.commands.hget(this.keys.meta(conversation), 'floor')) ?? 0);
		if (floor <= after) return null;
		const since = await this.fence.since();
		const far = await readFar(floor);
		const [state, ...result] = (await script(floor)) as [number, ...string[]];
		await this.fence.still(since);
		return state === 1 ? { ...answerOf(result), far } : null;
	}

	async standing(conversation: string): Promise<Known | null> {
		const where = { conversation, threadTs: null };
		const result = await this.withLoaded(where, EVERYTHING, () =>
			this.standings.ask(conversation, conversation).then(partsOf),
		);
		if (result === null || result === FAR_BACK) return null;
		const [seen = 0, late = 0, lateSeen = 0] = result.rest.map(Number);
		return { ...result.standing, seen, late, lateSeen };
	}

	/** Calls a script until what it needs is loaded, or lies further back than what is. */
	private async withLoaded(
		where: Where,
		back: number,
		call: () => Promise<unknown>,
	): Promise<Answer | typeof FAR_BACK | null> {
		for (;;) {
			const [state, ...result] = (await call()) as [number, ...string[]];
			if (state === 1) return answerOf(result);
			if (state === -1) {
				if (!(await this.loading.load(where.conversation))) return null;
			} else if (where.threadTs !== null) await this.loading.loadThread(where.conversation, where.threadTs);
			else if (!(await this.loading.deepen(where.conversation, back))) return FAR_BACK;
		}
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
