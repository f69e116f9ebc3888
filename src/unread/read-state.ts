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
import type { Keep, Release, RepairProblem, ViewSnapshot, Views } from '../engine/ports/views.ts';
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
import type { MemberPosition } from '../model/views.ts';
import type { Command } from '../sequencer/commands.ts';
import type { Effect } from '../sequencer/effects.ts';
import { Inbox } from './inbox.ts';
import { Marks } from './marks.ts';
import { inConversation, inThread, scopeOfConversation, scopeOfThread } from './scopes.ts';
import { scopeOfSnapshot, snapshotOf } from './snapshots.ts';

/**
 * Everything about reading, as functions of views: counts, marks, inbox, what changed. The same on every engine.
 *
 * What a query answers is durable: an answer never shows a change that a crash could still undo. Where several processes share
 * the state, that holds of changes made through this one. A mark that another one is just making durable may be shown already;
 * should that process die in this very moment, the shared state alone has it, until a process appends it to the log again.
 */
export class ReadState extends Marks {
	private readonly inboxes: Inbox;
	/** There may be a hundred thousand rows: one object is filled for each of them. */
	private readonly counted = emptyRow();

	constructor(views: Views) {
		super(views);
		this.inboxes = new Inbox(views);
	}

	prepare(command: Command): Promise<Release> {
		return this.views.prepare(command);
	}

	apply<T>(effects: readonly Effect[], keep: Keep<T>): Promise<T> {
		return this.views.apply(effects, keep);
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
		return this.views.look(user, scope, (snapshotViews) =>
			inConversation(snapshotViews, conversation, memberView),
		);
	}

	/** Everything the user is in, archived conversations included. */
	memberships(user: string): Promise<readonly MemberView[]> {
		return this.views.look(user, { all: 'heads' }, (snapshotViews) => {
			const views: MemberView[] = [];
			snapshotViews.eachConversation((member) => views.push(memberView(member)));
			return views;
		});
	}

	row(user: string, conversation: string): Promise<CountRow | null> {
		return this.views.look(user, scopeOfConversation(conversation), (snapshotViews) =>
			inConversation(snapshotViews, conversation, countRow),
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

	/** The same for users in very many conversations: the rows go to the sink, all of one moment. */
	countsInto(user: string, sink: CountSink): Promise<CountTotals> {
		return this.views.look(user, { all: 'threads' }, (snapshotViews) => {
			const { counted } = this;
			let badge = 0;
			sink.begin(snapshotViews.mostConversations);
			snapshotViews.eachConversation((member) => {
				if (member.conversation.archived) return;
				fillRow(counted, member);
				badge += counted.badge;
				sink.row(counted);
			});
			const threads = totalsOf(snapshotViews);
			return { threads, badge: badge + threads.badge, stamp: snapshotViews.position() };
		});
	}

	threadTotals(user: string): Promise<{ readonly threads: ThreadTotals; readonly stamp: number }> {
		return this.views.look(user, { all: 'threads' }, (snapshotViews) => ({
			threads: totalsOf(snapshotViews),
			stamp: snapshotViews.position(),
		}));
	}

	/**
	 * Unread messages of one conversation (or of all, with its threads), oldest first. Of all: where a conversation has more
	 * than counts show, at least as many of the newest, and every one that mentions the user. With `only`, no others than those
	 * in the badge: how far behind a user is does not matter then.
	 */
	async unread(user: string, conversation?: string, only?: 'in badge'): Promise<readonly UnreadItem[]> {
		if (conversation === undefined)
			return this.views.look(user, { all: 'threads' }, (snapshotViews) => {
				const items: UnreadItem[][] = [];
				snapshotViews.eachConversation((member) => items.push(unreadInConversation(member, only)));
				for (const member of snapshotViews.threads()) items.push(unreadInThread(member, only));
				return items.flat();
			});
		const items = await this.views.look(user, scopeOfConversation(conversation), (snapshotViews) =>
			inConversation(snapshotViews, conversation, (member) => unreadInConversation(member, only)),
		);
		return items ?? [];
	}

	/** ts of all unread messages of one conversation, ascending. */
	async unreadTs(user: string, conversation: string): Promise<Float64Array> {
		const found = await this.views.look(user, scopeOfConversation(conversation), (snapshotViews) =>
			inConversation(snapshotViews, conversation, unreadTsIn),
		);
		return found ?? new Float64Array(0);
	}

	/**
	 * Conversations by latest activity, newest first, from after `start` on. Every conversation is on one page
	 * of a list, except for what got or lost a newest message while it was gone through. Engines forget lists
	 * with the unread ones first after a while, or at a restart: then there is no such list.
	 */
	inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		return this.inboxes.page(user, query);
	}

	threads(user: string): Promise<readonly ThreadRow[]> {
		return this.views.look(user, { all: 'threads' }, (snapshotViews) =>
			Array.from(snapshotViews.threads(), threadRow),
		);
	}

	thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.views.look(user, scopeOfThread(conversation, threadTs), (snapshotViews) =>
			inThread(snapshotViews, conversation, threadTs, threadRow),
		);
	}

	/** Everything asked for, of one and the same moment. */
	snapshot(user: string, query: SnapshotQuery): Promise<UserSnapshot> {
		return this.views.look(user, scopeOfSnapshot(query), (snapshotViews) => snapshotOf(snapshotViews, query));
	}

	/** The stamp after which everything may be unknown to a client that is at this position. */
	sinceOf(position: number): number {
		return this.views.sinceOf(position);
	}

	/** What a client of this user that listens from now on is at. */
	stampOf(user: string): Promise<number> {
		return this.views.position(user);
	}
}

const memberView = ({ conversation: { id, kind, archived }, membership }: MemberPosition): MemberView => {
	const { cursor, revision, muted, level } = membership;
	return { conversation: id, kind, archived, lastRead: cursor, revision, muted, level };
};

function totalsOf(snapshotViews: ViewSnapshot): ThreadTotals {
	const totals = {
		unread: 0,
		mentions: 0,
		badge: 0,
		version: { user: snapshotViews.user.stamp, conversations: 0 },
	};
	// Archived ones too: archiving takes their threads out of the totals.
	snapshotViews.eachConversation(({ conversation }) => {
		totals.version.conversations = Math.max(totals.version.conversations, conversation.stamp);
	});
	for (const member of snapshotViews.threads()) {
		const row = threadRow(member);
		totals.unread += row.unread;
		totals.mentions += row.mentions;
		totals.badge += row.badge;
	}
	return totals;
}
