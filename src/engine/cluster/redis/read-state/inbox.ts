import type { CountRow, InboxPage, InboxPlace, InboxQuery } from '../../../ports/read-state.ts';
import type { Commands } from '../connection.ts';
import type { Keys } from '../keys.ts';
import type { Reading } from './reading.ts';
import { type ReadUser, type Rows, shown } from './rows.ts';
import { membershipIn } from './user-state.ts';

/**
 * A user's conversations by latest activity, in pages. With the unread ones first, which conversation is in which part is
 * settled when the first page is asked for, and kept where every gateway finds it.
 */

const LISTING_SECONDS = 15 * 60;

interface Place {
	readonly conversation: string;
	readonly latest: number;
	readonly unread: boolean;
}

export class Inbox {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly reading: Reading,
		private readonly rows: Rows,
	) {}

	async page(user: ReadUser, query: InboxQuery, now: number): Promise<InboxPage | 'no_such_listing'> {
		const { start, limit, unreadFirst } = query;
		const begun = start?.listing ?? null;
		const unread = unreadFirst ? await this.unreadOf(user, begun) : new Set<string>();
		if (!unread) return 'no_such_listing';
		const places = (await this.reading.places(user))
			.filter(({ standing }) => !standing.archived)
			.map(({ conversation, standing }) => ({
				conversation,
				latest: standing.latest,
				unread: unread.has(conversation),
			}))
			.filter((place) => !start || isAfter(start, place))
			.sort(inOrder);
		const page = places.slice(0, limit);
		const last = page.at(-1);
		const rows = await this.rowsOf(user, page);
		if (places.length === page.length || !last) return { rows, next: null };
		const listing = unreadFirst ? (begun ?? now) : null;
		if (listing !== null) await this.keep(user.id, listing, unread);
		return { rows, next: { listing, ...last } };
	}

	/** What was unread when the list was begun. Null: nobody knows any more. */
	private async unreadOf(user: ReadUser, listing: number | null): Promise<ReadonlySet<string> | null> {
		if (listing === null) {
			const rows = await this.reading.countRows(user);
			// Muting hides: what is muted comes first only for its badge.
			const shown = rows.filter(({ unreadDisplay, badge }) => unreadDisplay > 0 || badge > 0);
			return new Set(shown.map(({ conversation }) => conversation));
		}
		const kept = await this.commands.smembers(this.keys.listing(user.id, listing));
		// It is never empty: what was not unread is listed there as nothing.
		return kept.length === 0 ? null : new Set(kept);
	}

	private async keep(user: string, listing: number, unread: ReadonlySet<string>): Promise<void> {
		const key = this.keys.listing(user, listing);
		await Promise.all([this.commands.sadd(key, '', ...unread), this.commands.expire(key, LISTING_SECONDS)]);
	}

	private async rowsOf(user: ReadUser, page: readonly Place[]): Promise<CountRow[]> {
		const rows = await Promise.all(
			page.map(({ conversation }) => {
				const membership = membershipIn(user.fields, conversation);
				return membership ? this.rows.row(user, conversation, membership) : null;
			}),
		);
		return rows.flatMap((row) => (row ? [shown(row)] : []));
	}
}

const inOrder = (a: Place, b: Place): number =>
	Number(b.unread) - Number(a.unread) || b.latest - a.latest || (a.conversation < b.conversation ? -1 : 1);

function isAfter(start: InboxPlace, place: Place): boolean {
	if (start.unread !== place.unread) return start.unread;
	return (
		place.latest < start.latest || (place.latest === start.latest && place.conversation > start.conversation)
	);
}
