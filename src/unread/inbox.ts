import type { InboxPage, InboxPageStart, InboxQuery } from '../engine/ports/read-state.ts';
import type { Ids, ViewSnapshot, Views } from '../engine/ports/views.ts';
import { type CountRow, countRow, isListedAsUnread } from '../model/rows.ts';
import { inConversation, NO_THREADS } from './scopes.ts';

/**
 * A user's conversations by latest activity, in pages. An unread-first list has two parts, each by latest activity;
 * the first page fixes which conversations are in which part, and the engine keeps that for the later pages.
 */

type Listed = Omit<InboxPageStart, 'listing'>;

export class Inbox {
	constructor(private readonly views: Views) {}

	async page(
		user: string,
		{ start, limit, unreadFirst }: InboxQuery,
	): Promise<InboxPage | 'no_such_listing'> {
		const startsListing = unreadFirst && !start;
		const begun = start?.listing ?? null;
		const listing = begun === null ? null : await this.views.savedListing(user, begun);
		if (unreadFirst && start && !listing) return 'no_such_listing';
		const { found, unread, stamp } = await this.views.read(
			user,
			{ all: startsListing ? 'cursors' : 'heads' },
			(views) => {
				const unread = startsListing ? views.where(isListedAsUnread) : listing;
				// One more than the page shows: it tells whether there is a next page.
				return { found: listed(views, unread, start, limit + 1), unread, stamp: views.stamp };
			},
		);
		const shown = found.slice(0, limit);
		const last = shown.at(-1);
		const rows = await this.rowsOf(user, shown);
		if (found.length === shown.length || !last) return { rows, next: null };
		if (startsListing && unread) await this.views.savedListing(user, stamp, unread);
		return { rows, next: { listing: startsListing ? stamp : begun, ...last } };
	}

	/** Without conversations that the user has left in the meantime. */
	private rowsOf(user: string, shown: readonly Listed[]): Promise<CountRow[]> {
		const ids = shown.map(({ conversation }) => conversation);
		return this.views.read(
			user,
			{
				some: (view) =>
					ids.flatMap((id) => {
						const membership = view.membership(id);
						return membership?.member ? [{ id, after: membership.cursor, threads: NO_THREADS }] : [];
					}),
			},
			(views) => ids.flatMap((id) => inConversation(views, id, countRow) ?? []),
		);
	}
}

/** Entries after `start`: the unread part, then the other. */
function listed(
	views: ViewSnapshot,
	unread: Ids | null,
	start: InboxPageStart | null,
	most: number,
): Listed[] {
	const part = (isUnread: boolean, after: InboxPageStart | null, left: number): Listed[] =>
		views
			.newest(after, left, unread ?? undefined, isUnread)
			.map(({ id, timeline }) => ({ conversation: id, latest: timeline.latest, unread: isUnread }));
	if (!unread || (start && !start.unread)) return part(false, start, most);
	const first = part(true, start, most);
	return first.length === most ? first : [...first, ...part(false, null, most - first.length)];
}
