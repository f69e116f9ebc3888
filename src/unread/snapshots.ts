import type { Changes, OwnChanges } from '../engine/ports/changes.ts';
import type { ChangedViews, Views } from '../engine/ports/views.ts';
import { threadKey } from '../model/ids.ts';
import { type CountRow, countRow, type ThreadRow, threadRow } from '../model/rows.ts';
import type { UserView } from '../model/views.ts';
import { allOf, ofConversation, ofThread } from './queries.ts';

/** A user's state at one moment, with what changed in it since a stamp. */

export interface UserSnapshot extends ChangedViews {
	readonly stamp: number;
	/** The position of a client that has this snapshot. It may be earlier than `stamp`, but no change in between concerns the user. */
	readonly position: number;
	/** The client may lack changes after this stamp. */
	readonly since: number;
	/** Later changes arrive live. In a cluster there is no upper bound: everything found is sent. */
	readonly upTo: number;
	readonly isMissed: (at: number) => boolean;
	/** Changes of the user's own state after `since`. */
	readonly own: OwnChanges;
	/** Changes of the user's own state after a somewhat earlier stamp: `since - before`, see `snapshotSince`. */
	readonly recentOwn: OwnChanges;
	/** Conversations that changed after `from - before`, see `snapshotSince`; none if `before` is 0. */
	readonly recentConversations: readonly string[];
	/** Counts of the conversations and threads in `own`. */
	readonly rows: readonly CountRow[];
	readonly threads: readonly ThreadRow[];
}

const NOTHING: OwnChanges = { memberships: [], follows: [] };

/** `from`: the stamp after which the client may lack changes; `before`: how far before it the recent changes reach. */
export async function snapshotSince(
	{ views, changes, mostChanges }: { views: Views; changes: Changes; mostChanges: number },
	user: string,
	from: number,
	before: number,
): Promise<UserSnapshot> {
	// The store shows which rows are needed, but has to be read after the views. So the first pass reads the views without rows, and each
	// later pass reads them with the rows that the store has shown. Passes repeat while the user marks other conversations.
	for (let needed = NOTHING; ; ) {
		const snapshot = await read(views, user, from, before, needed);
		const since = Math.max(0, from - snapshot.lateness);
		const upTo = snapshot.visibleUpTo || Number.MAX_SAFE_INTEGER;
		const isNew = snapshot.ownStamp > since - before;
		const recentOwn = isNew ? await changes.own(user, since - before) : NOTHING;
		const own = changedAt(recentOwn, (at) => at > since);
		const isMissed = (at: number): boolean => at > since && at <= upTo;
		const isComplete = keysOf(changedAt(own, isMissed)).isSubsetOf(keysOf(needed));
		if (isComplete || sizeOf(own) > mostChanges)
			return { ...snapshot, since, upTo, isMissed, own, recentOwn };
		needed = own;
	}
}

function read(
	views: Views,
	user: string,
	since: number,
	before: number,
	{ memberships, follows }: OwnChanges,
) {
	const rows = allOf(memberships.map(({ conversation }) => ofConversation(conversation, countRow)));
	const threads = allOf(follows.map((follow) => ofThread(follow.conversation, follow.threadTs, threadRow)));
	const some = (view: UserView) => [...rows.some(view), ...threads.some(view)];
	return views.read(user, { all: 'conversations', includesLeft: true, some }, (snapshot) => ({
		...snapshot.changedSince(since),
		recentConversations: before > 0 ? snapshot.changedSince(since - before).conversations : [],
		stamp: snapshot.stamp,
		position: snapshot.position(),
		ownStamp: snapshot.user.stamp,
		rows: rows.answer(snapshot),
		threads: threads.answer(snapshot),
	}));
}

const changedAt = ({ memberships, follows }: OwnChanges, isIn: (at: number) => boolean): OwnChanges => ({
	memberships: memberships.filter((one) => [one.joinedTs, one.changedTs, one.preferredTs].some(isIn)),
	follows: follows.filter((one) => [one.since, one.changedTs].some(isIn)),
});

export const sizeOf = ({ memberships, follows }: OwnChanges): number => memberships.length + follows.length;

const keysOf = ({ memberships, follows }: OwnChanges): Set<string> =>
	new Set([
		...memberships.map(({ conversation }) => conversation),
		...follows.map(({ conversation, threadTs }) => threadKey(conversation, threadTs)),
	]);
