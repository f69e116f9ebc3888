import type { CountRow, ReadState } from '../engine/ports/read-state.ts';
import type { StateSource } from '../engine/ports/store.ts';
import type { ShownCounts } from '../model/counting.ts';
import { recount } from './recount.ts';

/**
 * Compares what is served with what the store says. A difference that stays while nothing changes is drift, which there
 * should never be: it is told, not explained away.
 */

export interface Drifted {
	readonly user: string;
	readonly conversation: string;
	readonly served: Pick<ShownCounts, 'unread' | 'mentions' | 'badge'>;
	readonly stored: Pick<ShownCounts, 'unread' | 'mentions' | 'badge'>;
}

export interface Verified {
	readonly checked: number;
	readonly drifted: readonly Drifted[];
}

/** The store may be a moment behind, or something happen in between: looked at again so often before it counts. */
const MOST_LOOKS = 4;
const LOOK_AGAIN_MS = 250;

export class Verifier {
	readonly meters = { checked: 0, drifted: 0 };

	constructor(
		private readonly readState: ReadState,
		private readonly source: StateSource,
	) {}

	/** Of one user, in one conversation or in all of them, up to so many, those with the latest activity first. */
	async verify(user: string, conversation: string | undefined, most: number): Promise<Verified> {
		const rows = await this.rowsOf(user, conversation, most);
		const drifted: Drifted[] = [];
		for (const { conversation: id } of rows) {
			const found = await this.look(user, id);
			if (found) drifted.push(found);
		}
		this.meters.checked += rows.length;
		this.meters.drifted += drifted.length;
		return { checked: rows.length, drifted };
	}

	private async rowsOf(user: string, conversation: string | undefined, most: number): Promise<CountRow[]> {
		if (conversation !== undefined) {
			const row = await this.readState.row(user, conversation);
			return row ? [row] : [];
		}
		const page = await this.readState.inbox(user, { limit: most, start: null, unreadFirst: false });
		return page === 'no_such_listing' ? [] : [...page.rows];
	}

	private async look(user: string, conversation: string): Promise<Drifted | null> {
		for (let looks = 1; ; looks += 1) {
			const before = await this.readState.row(user, conversation);
			const stored = await recount(this.source, user, conversation);
			const after = await this.readState.row(user, conversation);
			// Left or archived meanwhile: there is nothing to compare.
			if (!before || !after || !stored) return null;
			if (isEqual(after, stored)) return null;
			const isQuiet =
				before.position.conversation === after.position.conversation &&
				before.position.user === after.position.user;
			if (isQuiet && looks >= MOST_LOOKS)
				return { user, conversation, served: shown(after), stored: shown(stored) };
			// Under unceasing change nothing can be said.
			if (looks >= MOST_LOOKS * 2) return null;
			await Bun.sleep(LOOK_AGAIN_MS);
		}
	}
}

const isEqual = (a: ShownCounts, b: ShownCounts): boolean =>
	a.unread === b.unread && a.mentions === b.mentions && a.badge === b.badge;

const shown = ({ unread, mentions, badge }: ShownCounts): Drifted['served'] => ({ unread, mentions, badge });
