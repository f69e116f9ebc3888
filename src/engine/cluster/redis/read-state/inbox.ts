import { showsUnread } from '../../../../model/counting.ts';
import { readerOf } from '../../../../model/views.ts';
import type { CountRow, InboxPage, InboxPlace, InboxQuery } from '../../../ports/read-state.ts';
import type { Commands } from '../connection.ts';
import type { Keys } from '../keys.ts';
import { NO_THREADS } from '../views/conversation-views.ts';
import type { Place, Views } from '../views/views.ts';
import { isInUse, rowOf } from './reading.ts';

/**
 * A user's conversations by latest activity, in pages. With the unread ones first, which conversation is in which part is
 * settled when the first page is asked for, and kept where every gateway finds it.
 */

const LISTING_SECONDS = 15 * 60;

interface Listed {
	readonly conversation: string;
	readonly latest: number;
	readonly unread: boolean;
}

export class Inbox {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly views: Views,
	) {}

	async page(user: string, query: InboxQuery, now: number): Promise<InboxPage | 'no_such_listing'> {
		const { start, limit, unreadFirst } = query;
		const begun = start?.listing ?? null;
		const unread = unreadFirst ? await this.unreadOf(user, begun) : new Set<string>();
		if (!unread) return 'no_such_listing';
		const listed = await this.views.places(user, 'none', (_, places) =>
			places
				.filter(isInUse)
				.map(({ conversation: { id, timeline } }) => ({
					conversation: id,
					latest: timeline.latest,
					unread: unread.has(id),
				}))
				.filter((one) => !start || isAfter(start, one))
				.sort(inOrder),
		);
		const page = listed.slice(0, limit);
		const last = page.at(-1);
		const rows = await this.rowsOf(user, page);
		if (listed.length === page.length || !last) return { rows, next: null };
		const listing = unreadFirst ? (begun ?? now) : null;
		if (listing !== null) await this.keep(user, listing, unread);
		return { rows, next: { listing, ...last } };
	}

	/** What was unread when the list was begun. Null: nobody knows any more. */
	private async unreadOf(user: string, listing: number | null): Promise<ReadonlySet<string> | null> {
		if (listing === null)
			return this.views.places(
				user,
				'cursors',
				(_, places) =>
					new Set(
						places
							.filter((place) => isInUse(place) && isUnread(place))
							.map(({ conversation }) => conversation.id),
					),
			);
		const kept = await this.commands.smembers(this.keys.listing(user, listing));
		// It is never empty: what was not unread is listed there as nothing.
		return kept.length === 0 ? null : new Set(kept);
	}

	private async keep(user: string, listing: number, unread: ReadonlySet<string>): Promise<void> {
		const key = this.keys.listing(user, listing);
		await Promise.all([this.commands.sadd(key, '', ...unread), this.commands.expire(key, LISTING_SECONDS)]);
	}

	private rowsOf(user: string, page: readonly Listed[]): Promise<CountRow[]> {
		return this.views.look(
			user,
			(copy) =>
				page.flatMap(({ conversation: id }) => {
					const membership = copy.membership(id);
					return membership?.member ? [{ id, back: membership.cursor, threads: NO_THREADS }] : [];
				}),
			(copy, copies) =>
				copies.flatMap((conversation) => {
					const membership = conversation && copy.membership(conversation.id);
					return membership ? [rowOf({ user: copy, conversation, membership })] : [];
				}),
		);
	}
}

/** Muting hides: what is muted comes first only for what names the user. */
const isUnread = ({ user, conversation: { timeline }, membership }: Place): boolean =>
	showsUnread(timeline, readerOf(user, membership.cursor, membership.ahead), membership.muted);

const inOrder = (a: Listed, b: Listed): number =>
	Number(b.unread) - Number(a.unread) || b.latest - a.latest || (a.conversation < b.conversation ? -1 : 1);

function isAfter(start: InboxPlace, place: Listed): boolean {
	if (start.unread !== place.unread) return start.unread;
	return (
		place.latest < start.latest || (place.latest === start.latest && place.conversation > start.conversation)
	);
}
