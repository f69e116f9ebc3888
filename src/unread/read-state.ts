import type {
	CountSink,
	CountTotals,
	InboxPage,
	InboxQuery,
	MemberView,
	SnapshotQuery,
	ThreadTotals,
	UserCounts,
	UserSnapshot,
} from '../engine/ports/read-state.ts';
import type { OnMoved, Release, RepairProblem, ViewSnapshot, Views } from '../engine/ports/views.ts';
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
import type { Command } from '../sequencer/commands.ts';
import type { Effect } from '../sequencer/effects.ts';
import { Inbox } from './inbox.ts';
import { Marks } from './marks.ts';
import { inConversation, inThread, scopeOfConversation, scopeOfThread } from './scopes.ts';
import { scopeOfSnapshot, snapshotOf } from './snapshots.ts';

/**
 * Counts, marks, inbox and changes of a user, computed from views; the same on every engine.
 *
 * Answers show only durable changes, so a crash cannot undo what a client has seen. In a cluster that holds for changes
 * made through this process. A mark that another process is still making durable may be visible; if that process dies at this
 * moment, the mark is only in the shared state until a process appends it to the log again.
 */
export class ReadState extends Marks {
	private readonly inboxes: Inbox;
	/** Reused for each row: there can be a hundred thousand. */
	private readonly counted = emptyRow();

	constructor(views: Views) {
		super(views);
		this.inboxes = new Inbox(views);
	}

	prepare(command: Command): Promise<Release> {
		return this.views.prepare(command);
	}

	apply<T>(effects: readonly Effect[], onMoved: OnMoved<T>): Promise<T> {
		return this.views.apply(effects, onMoved);
	}

	written(conversation: string, stamp: number): Promise<void> {
		return this.views.written(conversation, stamp);
	}

	available(): Promise<void> {
		return this.views.available();
	}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		return this.views.repair(user, conversation);
	}

	member(user: string, conversation: string): Promise<MemberView | null> {
		const scope = scopeOfConversation(conversation, () => null);
		return this.views.read(user, scope, (snapshot) => inConversation(snapshot, conversation, memberView));
	}

	/** All conversations that the user is a member of, including archived ones. */
	memberships(user: string): Promise<readonly MemberView[]> {
		return this.views.read(user, { all: 'heads' }, (snapshot) => {
			const views: MemberView[] = [];
			snapshot.eachConversation((member) => views.push(memberView(member)));
			return views;
		});
	}

	row(user: string, conversation: string): Promise<CountRow | null> {
		return this.views.read(user, scopeOfConversation(conversation), (snapshot) =>
			inConversation(snapshot, conversation, countRow),
		);
	}

	async counts(user: string): Promise<UserCounts> {
		let rows: CountRow[] = [];
		const totals = await this.countsInto(user, {
			begin: () => {
				rows = [];
			},
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

	threadTotals(user: string): Promise<{ readonly threads: ThreadTotals; readonly position: number }> {
		return this.views.read(user, { all: 'threads' }, (snapshot) => ({
			threads: totalsOf(snapshot),
			position: snapshot.position(),
		}));
	}

	/**
	 * Unread messages of one conversation, or of all conversations and their threads; oldest first within each. For all conversations, the list has
	 * at least the newest `COUNT_CAP` of each conversation, and all that mention the user. With `only`, it has just the messages in the
	 * badge; the cost then does not depend on how far behind the user is.
	 */
	async unread(user: string, conversation?: string, only?: 'in badge'): Promise<readonly UnreadItem[]> {
		if (conversation === undefined)
			return this.views.read(user, { all: 'threads' }, (snapshot) => {
				const items: UnreadItem[][] = [];
				snapshot.eachConversation((member) => items.push(unreadInConversation(member, only)));
				for (const member of snapshot.threads()) items.push(unreadInThread(member, only));
				return items.flat();
			});
		const items = await this.views.read(user, scopeOfConversation(conversation), (snapshot) =>
			inConversation(snapshot, conversation, (member) => unreadInConversation(member, only)),
		);
		return items ?? [];
	}

	/** ts of all unread messages of one conversation, ascending. */
	async unreadTs(user: string, conversation: string): Promise<Float64Array> {
		const found = await this.views.read(user, scopeOfConversation(conversation), (snapshot) =>
			inConversation(snapshot, conversation, unreadTsIn),
		);
		return found ?? new Float64Array(0);
	}

	/**
	 * Conversations by latest activity, newest first, after `start`. Every conversation is on one page of a listing, unless its
	 * newest message changes during paging. Engines evict unread-first listings after a while and at a restart; a page of an evicted
	 * listing is answered with `no_such_listing`.
	 */
	inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		return this.inboxes.page(user, query);
	}

	threads(user: string): Promise<readonly ThreadRow[]> {
		return this.views.read(user, { all: 'threads' }, (snapshot) => Array.from(snapshot.threads(), threadRow));
	}

	thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.views.read(user, scopeOfThread(conversation, threadTs), (snapshot) =>
			inThread(snapshot, conversation, threadTs, threadRow),
		);
	}

	/** Everything in the query, as of one moment. */
	snapshot(user: string, query: SnapshotQuery): Promise<UserSnapshot> {
		return this.views.read(user, scopeOfSnapshot(query), (snapshot) => snapshotOf(snapshot, query));
	}

	/** The stamp after which a client at this position may lack changes. */
	sinceOf(position: number): number {
		return this.views.sinceOf(position);
	}

	/** The position of a client of this user that subscribes now. */
	position(user: string): Promise<number> {
		return this.views.position(user);
	}
}

const memberView = ({ conversation: { id, kind, archived }, membership }: MemberContext): MemberView => {
	const { cursor, revision, muted, level } = membership;
	return { conversation: id, kind, archived, lastRead: cursor, revision, muted, level };
};

function totalsOf(snapshot: ViewSnapshot): ThreadTotals {
	const totals = {
		unread: 0,
		mentions: 0,
		badge: 0,
		version: { user: snapshot.user.stamp, conversations: 0 },
	};
	// Including archived ones: archiving removes their threads from the totals.
	snapshot.eachConversation(({ conversation }) => {
		totals.version.conversations = Math.max(totals.version.conversations, conversation.stamp);
	});
	for (const member of snapshot.threads()) {
		const row = threadRow(member);
		totals.unread += row.unread;
		totals.mentions += row.mentions;
		totals.badge += row.badge;
	}
	return totals;
}
