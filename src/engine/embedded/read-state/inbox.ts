import { hasUnread } from '../../../model/counting.ts';
import type { CountRow, InboxPlace, InboxQuery } from '../../ports/read-state.ts';
import { readerOf } from './application.ts';
import type { LoadedConversation, LoadedUser } from './loaded.ts';
import type { Place, Places } from './places.ts';
import type { Residents } from './residents.ts';
import { countRow } from './rows.ts';

/**
 * A user's conversations by latest activity. Who is in few has all of them looked at; who is in many has the
 * newest conversations walked through until enough are found that the user is in, which for someone who is in
 * most of them is soon.
 */

/** Up to here, looking at all is cheaper than walking. */
const FEW = 512;

export class Inbox {
	constructor(
		private readonly residents: Residents,
		private readonly places: Places,
	) {}

	async list(userId: string, query: InboxQuery): Promise<CountRow[]> {
		const found = query.unreadFirst
			? await this.places.everywhere(userId, (user) => this.unreadFirst(user, query))
			: this.newest(await this.places.complete(userId), query);
		const rows: CountRow[] = [];
		for (const { id } of found) {
			const row = await this.places.at(userId, id, ({ user, conversation, membership }) =>
				countRow(user, conversation, membership),
			);
			if (row) rows.push(row);
		}
		return rows;
	}

	private newest(user: LoadedUser, query: InboxQuery): LoadedConversation[] {
		return (user.memberships.size > FEW && this.walk(user, query)) || this.scan(user, query);
	}

	/** Undefined where walking takes longer than looking at everything would. */
	private walk(user: LoadedUser, { start, limit }: InboxQuery): LoadedConversation[] | undefined {
		const found: LoadedConversation[] = [];
		let steps = 0;
		for (const conversation of this.residents.recency.walk(start?.latest ?? Number.MAX_SAFE_INTEGER)) {
			steps += 1;
			if (steps > user.memberships.size) return undefined;
			if (conversation.archived || (start && !isAfter(start, false, conversation))) continue;
			if (!user.memberships.get(conversation.number)?.member) continue;
			found.push(conversation);
			if (found.length === limit) return found;
		}
		return found;
	}

	private scan(user: LoadedUser, { start, limit }: InboxQuery): LoadedConversation[] {
		return this.current(user)
			.map(({ conversation }) => conversation)
			.filter((conversation) => !start || isAfter(start, false, conversation))
			.sort(byLatest)
			.slice(0, limit);
	}

	private unreadFirst(user: LoadedUser, { start, limit }: InboxQuery): LoadedConversation[] {
		return this.current(user)
			.map(({ conversation, membership }) => {
				const reader = readerOf(user, membership.cursor, user.ahead.get(conversation.number));
				return { conversation, unread: hasUnread(conversation.timeline, reader) };
			})
			.filter(({ conversation, unread }) => !start || isAfter(start, unread, conversation, true))
			.sort((a, b) => Number(b.unread) - Number(a.unread) || byLatest(a.conversation, b.conversation))
			.slice(0, limit)
			.map(({ conversation }) => conversation);
	}

	private current(user: LoadedUser): Place[] {
		return [...this.places.of(user)].filter(({ conversation }) => !conversation.archived);
	}
}

const byLatest = (a: LoadedConversation, b: LoadedConversation): number =>
	b.timeline.latest - a.timeline.latest || (a.id < b.id ? -1 : 1);

/** Whether a conversation comes after this place in the order of the list. */
function isAfter(
	place: InboxPlace,
	unread: boolean,
	conversation: LoadedConversation,
	unreadFirst = false,
): boolean {
	if (unreadFirst && place.unread !== unread) return place.unread;
	const { latest } = conversation.timeline;
	return latest < place.latest || (latest === place.latest && conversation.id > place.conversation);
}
