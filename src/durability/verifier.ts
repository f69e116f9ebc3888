import type { RowPosition } from '../engine/ports/read-state.ts';
import type { StateSource, UserReadState } from '../engine/ports/store.ts';
import { formatTs } from '../model/ts.ts';
import type { ReadState } from '../unread/read-state.ts';
import { type ComparedCounts, recount, recountThread, storedReader } from './recount.ts';
import { SharedEntries, Steps, type StoredEntries, steppedEntries } from './stored-entries.ts';

/**
 * Compares served counts with counts computed from the store. A difference that persists while nothing changes is drift.
 * Drift must never happen, so it is reported.
 */

/** Identifies a count. */
export interface CountKey {
	readonly user: string;
	readonly conversation: string;
	/** Null: the count of the conversation itself. */
	readonly threadTs: number | null;
}

export interface Drifted extends CountKey {
	readonly served: ComparedCounts;
	readonly stored: ComparedCounts;
}

export interface Verified {
	/** Number of counts compared. */
	readonly checked: number;
	readonly drifted: readonly Drifted[];
}

/** A page of a user's counts, and where the next page starts; null at the end. */
export interface VerifiedPage extends Verified {
	/** Number of the user's conversations and threads, on all pages. */
	readonly total: number;
	readonly next: string | null;
}

/** The store may lag, or a change may happen between two reads: report a difference only after this many comparisons. */
const ATTEMPTS_BEFORE_REPORT = 4;
const RETRY_MS = 250;
/** A change that the store still lacks after this time is lost, not delayed; the same limit as for a repair. */
const MAX_STORE_LAG_MICROS = 3_600_000_000;
/** Compared concurrently: if many differ, waiting for one after the other would take minutes. */
const CONCURRENCY = 16;

export class Verifier {
	readonly meters = { checked: 0, drifted: 0 };
	/** Shared by all verifications that run at the same time. */
	private readonly steps = new Steps();
	private readonly entries: StoredEntries;

	constructor(
		private readonly readState: ReadState,
		private readonly source: StateSource,
		private readonly nowMicros: () => number = () => Date.now() * 1000,
	) {
		this.entries = steppedEntries(source, this.steps);
	}

	/** Verifies the counts of these users in one conversation, including the threads that they follow there. */
	async verify(
		users: readonly string[],
		conversation: string,
	): Promise<Verified & { readonly total: number }> {
		const counts: CountKey[] = [];
		for (const user of users) {
			await this.steps.next();
			const all = countsOf(user, await this.source.user(user));
			counts.push(...all.filter((one) => one.conversation === conversation));
		}
		return {
			...(await this.compareAll(counts, new SharedEntries(this.entries, this.steps))),
			total: counts.length,
		};
	}

	/** Verifies all counts of a user, in pages of `most`, after `after`. */
	async verifyUser(user: string, after: string, most: number): Promise<VerifiedPage> {
		const all = countsOf(user, await this.source.user(user));
		const left = all.filter((one) => keyOf(one) > after);
		const page = left.slice(0, most);
		const last = page.at(-1);
		const next = last && left.length > page.length ? keyOf(last) : null;
		return { ...(await this.compareAll(page)), total: all.length, next };
	}

	/** Verifies some random counts of a user: for continuous checks in small steps. */
	async verifySome(user: string, most: number, random: () => number): Promise<Verified> {
		const all = countsOf(user, await this.source.user(user));
		const from = Math.floor(random() * all.length);
		return this.compareAll([...all.slice(from), ...all.slice(0, from)].slice(0, most));
	}

	/** `shared`: for many users of one conversation. */
	private async compareAll(counts: readonly CountKey[], shared?: SharedEntries): Promise<Verified> {
		let checked = 0;
		const drifted: Drifted[] = [];
		for (let from = 0; from < counts.length; from += CONCURRENCY) {
			const some = counts.slice(from, from + CONCURRENCY);
			for (const found of await Promise.all(some.map((one) => this.compare(one, shared)))) {
				if (found !== 'not compared') checked += 1;
				if (typeof found === 'object') drifted.push(found);
			}
		}
		this.meters.checked += checked;
		this.meters.drifted += drifted.length;
		return { checked, drifted };
	}

	/** Null: the count equals the store, or could not be compared. */
	async driftOf(count: CountKey): Promise<Drifted | null> {
		const found = await this.compare(count);
		return typeof found === 'object' ? found : null;
	}

	private async compare(
		count: CountKey,
		shared?: SharedEntries,
	): Promise<Drifted | 'equal' | 'not compared'> {
		for (let attempts = 1; ; attempts += 1) {
			await this.steps.next();
			const before = await this.served(count);
			// Shared entries may be older than a change in between: only the first comparison uses them.
			const entries = before && attempts === 1 ? shared?.at(before.position.conversation) : undefined;
			const stored = await this.stored(count, entries ?? this.entries);
			const after = await this.served(count);
			// Left, unfollowed or archived in the meantime: nothing to compare.
			if (!before || !after || !stored) return 'not compared';
			if (isEqual(after, stored)) return 'equal';
			const isQuiet =
				before.position.conversation === after.position.conversation &&
				before.position.user === after.position.user;
			if (isQuiet && attempts >= ATTEMPTS_BEFORE_REPORT) {
				if (await this.isStoreBehind(count, after.position)) return 'not compared';
				return { ...count, served: comparedCounts(after), stored: comparedCounts(stored) };
			}
			// Under constant change no comparison is possible.
			if (attempts >= ATTEMPTS_BEFORE_REPORT * 2) return 'not compared';
			await Bun.sleep(RETRY_MS);
		}
	}

	/** Whether the served count includes changes that the store does not have yet, as happens after an outage. */
	private async isStoreBehind({ user, conversation }: CountKey, position: RowPosition): Promise<boolean> {
		const [{ stamp }, [brief]] = await Promise.all([
			this.source.user(user),
			this.source.briefs([conversation]),
		]);
		const pending: number[] = [];
		if (stamp < position.user) pending.push(position.user);
		if ((brief?.stamp ?? 0) < position.conversation) pending.push(position.conversation);
		const arrived = this.source.completeUpTo();
		return pending.some((at) => at > arrived && this.nowMicros() - at < MAX_STORE_LAG_MICROS);
	}

	private served({
		user,
		conversation,
		threadTs,
	}: CountKey): Promise<(ComparedCounts & { readonly position: RowPosition }) | null> {
		return threadTs === null
			? this.readState.row(user, conversation)
			: this.readState.thread(user, conversation, threadTs);
	}

	private async stored(
		{ user, conversation, threadTs }: CountKey,
		entries: StoredEntries,
	): Promise<ComparedCounts | null> {
		const { source } = this;
		const reader = await storedReader(source, user);
		// Counting shared entries takes time without a read, so it gets a turn of its own.
		await this.steps.next();
		return threadTs === null
			? recount(source, entries, reader, conversation)
			: recountThread(source, entries, reader, conversation, threadTs);
	}
}

/** The counts of a user, ordered by key. */
function countsOf(user: string, { memberships, follows }: UserReadState): CountKey[] {
	const counts: CountKey[] = [
		...memberships
			.filter(({ member }) => member)
			.map(({ conversation }) => ({ user, conversation, threadTs: null })),
		...follows.map(({ conversation, threadTs }) => ({ user, conversation, threadTs })),
	];
	return counts.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ conversation, threadTs }: CountKey): string =>
	threadTs === null ? conversation : `${conversation} ${formatTs(threadTs)}`;

const isEqual = (a: ComparedCounts, b: ComparedCounts): boolean =>
	a.unread === b.unread && a.mentions === b.mentions && a.badge === b.badge;

const comparedCounts = ({ unread, mentions, badge }: ComparedCounts): ComparedCounts => ({
	unread,
	mentions,
	badge,
});
