import { COUNT_CAP, reasonsInBadge, unreadEntries } from '../../../../model/counting.ts';
import { isDirect } from '../../../../model/ids.ts';
import type { CountRow, MemberView, ThreadRow, ThreadTotals, UnreadItem } from '../../../ports/read-state.ts';
import type { Conversations } from './conversations.ts';
import type { Follow, Membership } from './packing.ts';
import { memberView, type ReadUser, type Rows, shown } from './rows.ts';
import { activeAt, followEntries, membershipEntries, memberships } from './user-state.ts';

/**
 * Answers about a user whose state was read: one script for each conversation or thread, all in one turn, so
 * that they go out as one pipeline for each node.
 */
export class Reading {
	constructor(
		private readonly conversations: Conversations,
		private readonly rows: Rows,
	) {}

	/** Where the user is, archived conversations included. */
	places({ fields }: ReadUser) {
		return this.standings(memberships(fields));
	}

	/** What the user has left, or was taken out of, since a stamp. */
	formerPlaces({ fields }: ReadUser, since: number) {
		return this.standings(
			membershipEntries(fields).filter(({ membership: { member, at } }) => !member && at > since),
		);
	}

	private async standings(all: ReturnType<typeof memberships>) {
		const places = await Promise.all(
			all.map(async (place) => {
				const standing = await this.conversations.standing(place.conversation);
				return standing && { ...place, standing };
			}),
		);
		return places.filter((place) => place !== null);
	}

	async views(user: ReadUser): Promise<MemberView[]> {
		const places = await this.places(user);
		return places.map(({ conversation, membership, standing }) =>
			memberView(conversation, membership, standing),
		);
	}

	/** Of conversations that are not archived. */
	async countRows(user: ReadUser): Promise<CountRow[]> {
		const rows = await Promise.all(
			memberships(user.fields).map(({ conversation, membership }) =>
				this.rows.row(user, conversation, membership),
			),
		);
		return rows.flatMap((row) => (row && !row.archived ? [shown(row)] : []));
	}

	async threadRows(user: ReadUser): Promise<ThreadRow[]> {
		const rows = await Promise.all(
			followEntries(user.fields).map(({ conversation, threadTs, follow }) =>
				this.rows.threadRow(user, conversation, threadTs, follow),
			),
		);
		return rows.flatMap((row) => (row && !row.archived ? [shown(row)] : []));
	}

	async unreadEverywhere(user: ReadUser): Promise<UnreadItem[]> {
		const items = await Promise.all([
			...memberships(user.fields).map(({ conversation, membership }) =>
				this.unreadIn(user, conversation, membership, COUNT_CAP + 1),
			),
			...followEntries(user.fields).map(({ conversation, threadTs, follow }) =>
				this.unreadInThread(user, conversation, threadTs, follow),
			),
		]);
		return items.flat();
	}

	/** All of them; or of more than so many the newest, and those before them that mention the user. */
	async unreadIn(
		user: ReadUser,
		conversation: string,
		membership: Membership,
		most = Number.POSITIVE_INFINITY,
	): Promise<UnreadItem[]> {
		const { cursor, ahead, muted } = membership;
		const standing = await this.conversations.standing(conversation);
		if (!standing || standing.archived) return [];
		const reading = { user: user.id, cursor, ahead, activeAt: activeAt(user.fields, user.starts) };
		const read = await this.conversations.unreadEntries(conversation, reading, most);
		if (!read || read.archived) return [];
		const reader = {
			number: read.numberOf(user.id),
			cursor,
			ahead,
			activity: { isActiveAt: reading.activeAt },
		};
		return [...unreadEntries(read.timeline, reader)].map((entry) => ({
			conversation,
			ts: entry.ts,
			threadTs: null,
			reasons: reasonsInBadge(entry, { direct: isDirect(read.kind), muted }),
		}));
	}

	private async unreadInThread(
		user: ReadUser,
		conversation: string,
		threadTs: number,
		{ cursor }: Follow,
	): Promise<UnreadItem[]> {
		const read = await this.conversations.entries({ conversation, threadTs }, cursor);
		if (!read || read.archived) return [];
		const reader = {
			number: read.numberOf(user.id),
			cursor,
			ahead: new Set<number>(),
			activity: { isActiveAt: () => false },
		};
		return [...unreadEntries(read.timeline, reader)].map(({ ts, named, broadcast }) => ({
			conversation,
			ts,
			threadTs,
			// Broadcast replies count in the conversation.
			reasons: named && !broadcast ? (['thread_mention'] as const) : [],
		}));
	}
}

export function totalsOf(rows: readonly ThreadRow[]): ThreadTotals {
	const totals = { unread: 0, mentions: 0, badge: 0 };
	for (const row of rows) {
		totals.unread += row.unread;
		totals.mentions += row.mentions;
		totals.badge += row.badge;
	}
	return totals;
}
