import { countRow } from '../../../model/rows.ts';
import type { Clock } from '../../../model/ts.ts';
import type { CountRow, InboxPage, InboxPlace, InboxQuery } from '../../ports/read-state.ts';
import { inOrder, type Part } from './inbox-order.ts';
import { Listing } from './listings.ts';
import type { LoadedConversation, LoadedUser } from './loaded.ts';
import type { Places } from './places.ts';
import type { Residents } from './residents.ts';
import { UnreadIndex } from './unread-index.ts';

/**
 * A user's conversations by latest activity, in pages. With the unread ones first there are two parts, each by
 * latest activity; which conversation is in which is settled when the first page is asked for.
 */
export class Inbox {
	/** Of users who asked for the unread ones first, while they are in memory. */
	private readonly indexes = new WeakMap<LoadedUser, UnreadIndex>();

	constructor(
		private readonly residents: Residents,
		private readonly places: Places,
		private readonly clock: Clock,
	) {}

	/** Undefined: the list that this is to go on with is not there any more. */
	async page(userId: string, query: InboxQuery): Promise<InboxPage | undefined> {
		const listing = query.unreadFirst ? await this.listingFor(userId, query.start) : null;
		if (listing === undefined) return undefined;
		const user = await this.places.complete(userId);
		// One more than is shown tells whether there is a next page.
		const found = this.find(user, listing, query.start, query.limit + 1);
		const shown = found.slice(0, query.limit);
		const last = shown.at(-1);
		if (found.length === shown.length || !last) return { rows: await this.rowsOf(userId, shown), next: null };
		if (listing) this.indexOf(user).listings.keep(listing);
		// Before anything is awaited: this is where it stood in the order that the next page goes on with.
		const next: InboxPlace = {
			listing: listing?.stamp ?? null,
			unread: listing?.hasUnread(last.number) ?? false,
			latest: last.timeline.latest,
			conversation: last.id,
		};
		return { rows: await this.rowsOf(userId, shown), next };
	}

	private async listingFor(userId: string, start: InboxPlace | null): Promise<Listing | undefined> {
		if (!start) return this.places.untilLoaded(userId, (user) => this.begin(user));
		const user = await this.residents.user(userId);
		return start.listing === null ? undefined : this.indexes.get(user)?.listings.find(start.listing);
	}

	/** Undefined where something is not loaded as far back as the user's cursor. */
	private begin(user: LoadedUser): Listing | undefined {
		const stamp = this.clock.last();
		const unread = this.indexOf(user).take(stamp);
		return unread && new Listing(stamp, unread);
	}

	private indexOf(user: LoadedUser): UnreadIndex {
		const there = this.indexes.get(user);
		if (there) return there;
		const made = new UnreadIndex(user, this.residents);
		this.indexes.set(user, made);
		return made;
	}

	private find(
		user: LoadedUser,
		listing: Listing | null,
		start: InboxPlace | null,
		limit: number,
	): LoadedConversation[] {
		if (!listing) return inOrder(this.residents, everything(user), start, limit);
		if (start && !start.unread) return inOrder(this.residents, theOthers(user, listing), start, limit);
		const unread = inOrder(this.residents, theUnread(user, listing), start, limit);
		const others = inOrder(this.residents, theOthers(user, listing), null, limit - unread.length);
		return [...unread, ...others];
	}

	private async rowsOf(userId: string, found: readonly LoadedConversation[]): Promise<CountRow[]> {
		const rows: CountRow[] = [];
		for (const { id } of found) {
			const row = await this.places.at(userId, id, ({ user, conversation, membership }) =>
				countRow(user, conversation, membership, user.ahead.get(conversation.number)),
			);
			if (row) rows.push(row);
		}
		return rows;
	}
}

const isIn = ({ memberships }: LoadedUser, conversation: number): boolean => {
	const index = memberships.find(conversation);
	return index >= 0 && memberships.isMemberAt(index);
};

const everything = (user: LoadedUser): Part => ({
	atMost: user.memberships.size,
	numberAt: (index) => user.memberships.conversationAt(index),
	has: (conversation) => isIn(user, conversation),
});

const theUnread = (user: LoadedUser, listing: Listing): Part => ({
	atMost: listing.unread.length,
	numberAt: (index) => listing.unread[index]!,
	has: (conversation) => listing.hasUnread(conversation) && isIn(user, conversation),
});

const theOthers = (user: LoadedUser, listing: Listing): Part => ({
	...everything(user),
	has: (conversation) => !listing.hasUnread(conversation) && isIn(user, conversation),
});
