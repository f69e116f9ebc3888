import type {
	CountSink,
	CountTotals,
	InboxPage,
	InboxQuery,
	MemberState,
	ThreadTotals,
	UserCounts,
} from '../engine/ports/read-state.ts';
import type { ViewSnapshot, Views } from '../engine/ports/views.ts';
import {
	type CountRow,
	countRow,
	emptyRow,
	fillRow,
	type ThreadRow,
	threadRow,
	type UnreadItem,
	unreadInConversation,
	unreadInThread,
	unreadTsIn,
} from '../model/rows.ts';
import type { MemberContext } from '../model/views.ts';
import { inboxPage } from './inbox.ts';
import { ofConversation, ofThread, type Query } from './queries.ts';

/**
 * Answers queries about a user's counts, threads and inbox from views; the same on every engine.
 *
 * Answers show only durable changes, so a crash cannot undo what a client has seen. In a cluster that holds for changes
 * made through this process. A mark that another process is still making durable may be visible; if that process dies at this
 * moment, the mark is only in the shared state until a process appends it to the log again.
 */
export class ReadState {
	/** Reused for each row: there can be a hundred thousand. */
	private readonly counted = emptyRow();

	constructor(private readonly views: Views) {}

	member(user: string, conversation: string): Promise<MemberState | null> {
		return this.answer(
			user,
			ofConversation(conversation, memberStateOf, () => null),
		);
	}

	/** All conversations that the user is a member of, including archived ones. */
	memberships(user: string): Promise<readonly MemberState[]> {
		return this.views.read(user, { all: 'conversations' }, (snapshot) => {
			const states: MemberState[] = [];
			snapshot.eachConversation((member) => states.push(memberStateOf(member)));
			return states;
		});
	}

	row(user: string, conversation: string): Promise<CountRow | null> {
		return this.answer(user, ofConversation(conversation, countRow));
	}

	async counts(user: string): Promise<UserCounts> {
		const rows: CountRow[] = [];
		const totals = await this.countsInto(user, {
			begin: () => rows.splice(0),
			row: (row) => rows.push({ ...row, position: { ...row.position } }),
		});
		return { ...totals, rows };
	}

	/** As `counts`, for users in very many conversations: passes the rows of one snapshot to the sink. */
	countsInto(user: string, sink: CountSink): Promise<CountTotals> {
		return this.views.read(user, { all: 'threads' }, (snapshot) => {
			const { counted } = this;
			let badge = 0;
			sink.begin(snapshot.mostConversations);
			snapshot.eachConversation((member) => {
				if (member.conversation.archived) return;
				fillRow(counted, member);
				badge += counted.badge;
				sink.row(counted);
			});
			const threads = totalsOf(snapshot);
			return { threads, badge: badge + threads.badge, position: snapshot.position() };
		});
	}

	threadTotals(user: string): Promise<Omit<CountTotals, 'badge'>> {
		return this.views.read(user, { all: 'threads' }, (snapshot) => ({
			threads: totalsOf(snapshot),
			position: snapshot.position(),
		}));
	}

	/**
	 * Unread messages of one conversation, or of all conversations and their threads; oldest first within each. With `only`, just the
	 * messages in the badge; it then visits only messages with a mention, except in direct messages that are not muted.
	 */
	async unread(user: string, conversation?: string, only?: 'in badge'): Promise<readonly UnreadItem[]> {
		const unreadIn = (member: MemberContext): UnreadItem[] => unreadInConversation(member, only);
		if (conversation !== undefined)
			return (await this.answer(user, ofConversation(conversation, unreadIn))) ?? [];
		return this.views.read(user, { all: 'threads' }, (snapshot) => {
			const items: UnreadItem[][] = [];
			snapshot.eachConversation((member) => items.push(unreadIn(member)));
			for (const member of snapshot.threads()) items.push(unreadInThread(member, only));
			return items.flat();
		});
	}

	/** ts of all unread messages of one conversation, ascending. */
	async unreadTs(user: string, conversation: string): Promise<Float64Array> {
		return (await this.answer(user, ofConversation(conversation, unreadTsIn))) ?? new Float64Array(0);
	}

	/**
	 * Conversations by latest activity, newest first, after `start`. Every conversation is on one page of a listing, unless its
	 * newest message changes during paging. Engines evict unread-first listings after a while and at a restart; a page of an evicted
	 * listing is answered with `no_such_listing`.
	 */
	inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		return inboxPage(this.views, user, query);
	}

	threads(user: string): Promise<readonly ThreadRow[]> {
		return this.views.read(user, { all: 'threads' }, (snapshot) => Array.from(snapshot.threads(), threadRow));
	}

	thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.answer(user, ofThread(conversation, threadTs, threadRow));
	}

	private answer<T>(user: string, query: Query<T>): Promise<T | null> {
		return this.views.read(user, query, query.answer);
	}
}

const memberStateOf = ({ conversation: { id, kind, archived }, membership }: MemberContext): MemberState => {
	const { cursor, revision, muted, level } = membership;
	return { conversation: id, kind, archived, lastRead: cursor, revision, muted, level };
};

function totalsOf(snapshot: ViewSnapshot): ThreadTotals {
	let [unread, mentions, badge, conversations] = [0, 0, 0, 0];
	for (const row of Array.from(snapshot.threads(), threadRow)) {
		unread += row.unread;
		mentions += row.mentions;
		badge += row.badge;
	}
	// Including archived ones: archiving removes their threads from the totals.
	snapshot.eachConversation(({ conversation }) => {
		conversations = Math.max(conversations, conversation.stamp);
	});
	return { unread, mentions, badge, version: { user: snapshot.user.stamp, conversations } };
}
