import type { RowPosition } from '../engine/ports/read-state.ts';
import type { StateSource, UserReadState } from '../engine/ports/store.ts';
import { formatTs } from '../model/ts.ts';
import type { ReadState } from '../unread/read-state.ts';
import { Pace } from './pace.ts';
import { type ComparedCounts, recount, recountThread, storedReader } from './recount.ts';
import { pacedRows, type Rows, SharedRows } from './rows.ts';

/**
 * Compares what is served with what the store says. A difference that stays while nothing changes is drift, which there
 * must never happen: it is reported.
 */

/** What a count is of. */
export interface Counted {
	readonly user: string;
	readonly conversation: string;
	/** Null: of the conversation's timeline. */
	readonly threadTs: number | null;
}

export interface Drifted extends Counted {
	readonly served: ComparedCounts;
	readonly stored: ComparedCounts;
}

export interface Verified {
	/** Counts that were compared. */
	readonly checked: number;
	readonly drifted: readonly Drifted[];
}

/** A page of what a user has, and where the next one starts; null at the end. */
export interface VerifiedPage extends Verified {
	/** Conversations and threads that the user has, on all pages. */
	readonly total: number;
	readonly next: string | null;
}

/** The store may be a moment behind, or something happen in between: looked at again so often before it counts. */
const MOST_LOOKS = 4;
const LOOK_AGAIN_MS = 250;
/** What the store lacks for longer is lost, not on its way: as for a repair. */
const LONGEST_WAY_MICROS = 3_600_000_000;
/** Where many differ, waiting for each of them alone would take minutes. */
const AT_ONCE = 16;

export class Verifier {
	readonly meters = { checked: 0, drifted: 0 };
	/** One for all that is verified at the same time: together it takes one small step per turn. */
	private readonly pace = new Pace();
	private readonly rows: Rows;

	constructor(
		private readonly readState: ReadState,
		private readonly source: StateSource,
		private readonly nowMicros: () => number = () => Date.now() * 1000,
	) {
		this.rows = pacedRows(source, this.pace);
	}

	/** Of each of these users in one conversation, with the threads that the user follows there. */
	async verify(
		users: readonly string[],
		conversation: string,
	): Promise<Verified & { readonly total: number }> {
		const counted: Counted[] = [];
		for (const user of users) {
			await this.pace.turn();
			const all = countsOf(user, await this.source.user(user));
			counted.push(...all.filter((one) => one.conversation === conversation));
		}
		return {
			...(await this.compareAll(counted, new SharedRows(this.rows, this.pace))),
			total: counted.length,
		};
	}

	/** Everything that a user has, in pages of so many counts, from after `after` on. */
	async verifyUser(user: string, after: string, most: number): Promise<VerifiedPage> {
		const all = countsOf(user, await this.source.user(user));
		const left = all.filter((one) => keyOf(one) > after);
		const page = left.slice(0, most);
		const last = page.at(-1);
		const next = last && left.length > page.length ? keyOf(last) : null;
		return { ...(await this.compareAll(page)), total: all.length, next };
	}

	/** Some counts of a user, at random: what is looked at all the time, a little at a time. */
	async verifySome(user: string, most: number, random: () => number): Promise<Verified> {
		const all = countsOf(user, await this.source.user(user));
		const from = Math.floor(random() * all.length);
		return this.compareAll([...all.slice(from), ...all.slice(0, from)].slice(0, most));
	}

	/** `shared`: for many users of one conversation. */
	private async compareAll(counted: readonly Counted[], shared?: SharedRows): Promise<Verified> {
		let checked = 0;
		const drifted: Drifted[] = [];
		for (let from = 0; from < counted.length; from += AT_ONCE) {
			const some = counted.slice(from, from + AT_ONCE);
			for (const found of await Promise.all(some.map((one) => this.compare(one, shared)))) {
				if (found !== 'not compared') checked += 1;
				if (typeof found === 'object') drifted.push(found);
			}
		}
		this.meters.checked += checked;
		this.meters.drifted += drifted.length;
		return { checked, drifted };
	}

	/** Null: it is what the store says, or nothing can be said. */
	async look(counted: Counted): Promise<Drifted | null> {
		const found = await this.compare(counted);
		return typeof found === 'object' ? found : null;
	}

	private async compare(counted: Counted, shared?: SharedRows): Promise<Drifted | 'equal' | 'not compared'> {
		for (let looks = 1; ; looks += 1) {
			await this.pace.turn();
			const before = await this.served(counted);
			// What others read may be older than what changed meanwhile: only the first look takes it.
			const rows = before && looks === 1 ? shared?.at(before.position.conversation) : undefined;
			const stored = await this.stored(counted, rows ?? this.rows);
			const after = await this.served(counted);
			// Left, unfollowed or archived meanwhile: there is nothing to compare.
			if (!before || !after || !stored) return 'not compared';
			if (isEqual(after, stored)) return 'equal';
			const isQuiet =
				before.position.conversation === after.position.conversation &&
				before.position.user === after.position.user;
			if (isQuiet && looks >= MOST_LOOKS) {
				if (await this.isStoreBehind(counted, after.position)) return 'not compared';
				return { ...counted, served: comparedCounts(after), stored: comparedCounts(stored) };
			}
			// Under unceasing change nothing can be said.
			if (looks >= MOST_LOOKS * 2) return 'not compared';
			await Bun.sleep(LOOK_AGAIN_MS);
		}
	}

	/** What is served rests on changes that are still on their way to the store, as for a while after an outage. */
	private async isStoreBehind({ user, conversation }: Counted, position: RowPosition): Promise<boolean> {
		const [{ stamp }, [brief]] = await Promise.all([
			this.source.user(user),
			this.source.briefs([conversation]),
		]);
		const onTheWay: number[] = [];
		if (stamp < position.user) onTheWay.push(position.user);
		if ((brief?.stamp ?? 0) < position.conversation) onTheWay.push(position.conversation);
		const arrived = this.source.completeUpTo();
		return onTheWay.some((at) => at > arrived && this.nowMicros() - at < LONGEST_WAY_MICROS);
	}

	private served({
		user,
		conversation,
		threadTs,
	}: Counted): Promise<(ComparedCounts & { readonly position: RowPosition }) | null> {
		return threadTs === null
			? this.readState.row(user, conversation)
			: this.readState.thread(user, conversation, threadTs);
	}

	private async stored(
		{ user, conversation, threadTs }: Counted,
		rows: Rows,
	): Promise<ComparedCounts | null> {
		const { source } = this;
		const reader = await storedReader(source, user);
		// Where rows are shared nothing else may part one reader's work from the next one's.
		await this.pace.turn();
		return threadTs === null
			? recount(source, rows, reader, conversation)
			: recountThread(source, rows, reader, conversation, threadTs);
	}
}

/** What there is of a user, in the order of their keys. */
function countsOf(user: string, { memberships, follows }: UserReadState): Counted[] {
	const counted: Counted[] = [
		...memberships
			.filter(({ member }) => member)
			.map(({ conversation }) => ({ user, conversation, threadTs: null })),
		...follows.map(({ conversation, threadTs }) => ({ user, conversation, threadTs })),
	];
	return counted.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ conversation, threadTs }: Counted): string =>
	threadTs === null ? conversation : `${conversation} ${formatTs(threadTs)}`;

const isEqual = (a: ComparedCounts, b: ComparedCounts): boolean =>
	a.unread === b.unread && a.mentions === b.mentions && a.badge === b.badge;

const comparedCounts = ({ unread, mentions, badge }: ComparedCounts): ComparedCounts => ({
	unread,
	mentions,
	badge,
});
