import type { InboxPage, InboxPageStart, InboxQuery } from '../engine/ports/read-state.ts';
import type { Ids, ViewSnapshot, Views } from '../engine/ports/views.ts';
import { countRow, isListedAsUnread } from '../model/rows.ts';
import { allOf, ofConversation } from './queries.ts';

/**
 * A user's conversations by latest activity, in pages. An unread-first list has two parts, each by latest activity;
 * the first page decides which conversations are in which part, and the engine saves that for the later pages.
 */

type Listed = Omit<InboxPageStart, 'listing'>;

export async function inboxPage(
	views: Views,
	user: string,
	{ start, limit, unreadFirst }: InboxQuery,
): Promise<InboxPage | 'no_such_listing'> {
	const startsListing = unreadFirst && !start;
	const begun = start?.listing ?? null;
	const listing = begun === null ? null : await views.savedListing(user, begun);
	if (unreadFirst && start && !listing) return 'no_such_listing';
	const all = startsListing ? 'cursors' : 'conversations';
	const { found, unread, stamp } = await views.read(user, { all }, (snapshot) => {
		const unread = startsListing ? snapshot.where(isListedAsUnread) : listing;
		// One more than the page shows, to detect whether there is a next page.
		return { found: listed(snapshot, unread, start, limit + 1), unread, stamp: snapshot.stamp };
	});
	const shown = found.slice(0, limit);
	const last = shown.at(-1);
	// Without conversations that the user has left in the meantime.
	const query = allOf(shown.map(({ conversation }) => ofConversation(conversation, countRow)));
	const rows = await views.read(user, query, query.answer);
	if (found.length === shown.length || !last) return { rows, next: null };
	if (startsListing && unread) await views.saveListing(user, stamp, unread);
	return { rows, next: { listing: startsListing ? stamp : begun, ...last } };
}

/** Conversations after `start`: the unread part, then the rest. */
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
