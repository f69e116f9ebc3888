import type { ReadState, RowPosition } from '../engine/ports/read-state.ts';
import type { StateSource } from '../engine/ports/store.ts';
import { recount, recountThread, type Told } from './recount.ts';

/**
 * Compares what is served with what the store says. A difference that stays while nothing changes is drift, which there
 * should never be: it is told, not explained away.
 */

/** What a count is of. */
export interface Counted {
	readonly user: string;
	readonly conversation: string;
	/** Null: of the conversation's timeline. */
	readonly threadTs: number | null;
}

export interface Drifted extends Counted {
	readonly served: Told;
	readonly stored: Told;
}

export interface Verified {
	readonly checked: number;
	readonly drifted: readonly Drifted[];
}

/** The store may be a moment behind, or something happen in between: looked at again so often before it counts. */
const MOST_LOOKS = 4;
const LOOK_AGAIN_MS = 250;
/** Where many differ, waiting for each of them alone would take minutes. */
const AT_ONCE = 16;

export class Verifier {
	readonly meters = { checked: 0, drifted: 0 };

	constructor(
		private readonly readState: ReadState,
		private readonly source: StateSource,
	) {}

	/**
	 * Of each of these users, in one conversation or in all of them, up to so many, those with the latest activity first; and
	 * of the threads that the user follows there.
	 */
	async verify(users: readonly string[], conversation: string | undefined, most: number): Promise<Verified> {
		const counted: Counted[] = [];
		for (const user of users) counted.push(...(await this.countsOf(user, conversation, most)));
		const drifted: Drifted[] = [];
		for (let from = 0; from < counted.length; from += AT_ONCE) {
			const some = counted.slice(from, from + AT_ONCE);
			for (const found of await Promise.all(some.map((one) => this.look(one))))
				if (found) drifted.push(found);
		}
		this.meters.checked += counted.length;
		this.meters.drifted += drifted.length;
		return { checked: counted.length, drifted };
	}

	private async countsOf(user: string, conversation: string | undefined, most: number): Promise<Counted[]> {
		const conversations = await this.conversationsOf(user, conversation, most);
		const isAmongThem = new Set(conversations);
		const threads = (await this.readState.threads(user)).filter((row) => isAmongThem.has(row.conversation));
		return [
			...conversations.map((id) => ({ user, conversation: id, threadTs: null })),
			...threads
				.slice(0, most)
				.map((row) => ({ user, conversation: row.conversation, threadTs: row.threadTs })),
		];
	}

	private async conversationsOf(
		user: string,
		conversation: string | undefined,
		most: number,
	): Promise<string[]> {
		if (conversation !== undefined)
			return (await this.readState.row(user, conversation)) ? [conversation] : [];
		const page = await this.readState.inbox(user, { limit: most, start: null, unreadFirst: false });
		return page === 'no_such_listing' ? [] : page.rows.map((row) => row.conversation);
	}

	/** Null: it is what the store says, or nothing can be said. */
	async look(counted: Counted): Promise<Drifted | null> {
		for (let looks = 1; ; looks += 1) {
			const before = await this.served(counted);
			const stored = await this.stored(counted);
			const after = await this.served(counted);
			// Left, unfollowed or archived meanwhile: there is nothing to compare.
			if (!before || !after || !stored) return null;
			if (isEqual(after, stored)) return null;
			const isQuiet =
				before.position.conversation === after.position.conversation &&
				before.position.user === after.position.user;
			if (isQuiet && looks >= MOST_LOOKS) return { ...counted, served: told(after), stored: told(stored) };
			// Under unceasing change nothing can be said.
			if (looks >= MOST_LOOKS * 2) return null;
			await Bun.sleep(LOOK_AGAIN_MS);
		}
	}

	private served({
		user,
		conversation,
		threadTs,
	}: Counted): Promise<(Told & { readonly position: RowPosition }) | null> {
		return threadTs === null
			? this.readState.row(user, conversation)
			: this.readState.thread(user, conversation, threadTs);
	}

	private stored({ user, conversation, threadTs }: Counted): Promise<Told | null> {
		return threadTs === null
			? recount(this.source, user, conversation)
			: recountThread(this.source, user, conversation, threadTs);
	}
}

const isEqual = (a: Told, b: Told): boolean =>
	a.unread === b.unread && a.mentions === b.mentions && a.badge === b.badge;

const told = ({ unread, mentions, badge }: Told): Told => ({ unread, mentions, badge });
