import {
	applyMark,
	type Cursor,
	isAboutAny,
	type Mark,
	threadReadUpTo,
	threadUnreadFrom,
} from '../../../model/cursor.ts';
import { countRow, threadRow } from '../../../model/rows.ts';
import type { Clock } from '../../../model/ts.ts';
import type { NotificationLevel, ReadFact } from '../../ports/facts.ts';
import type {
	CountRow,
	MarkProblem,
	RowChange,
	Tell,
	ThreadChange,
	ThreadRow,
} from '../../ports/read-state.ts';
import type { Ledger } from '../../ports/store.ts';
import type { LoadedUser } from './loaded.ts';
import type { Place, ThreadPlace } from './places.ts';

/**
 * Moves read positions and preferences of what is loaded: stamped, applied and handed over in one turn.
 *
 * What changes nothing is acknowledged no earlier than what it found: the mark that it repeats, or a message
 * that its row shows, may still be on its way to disk.
 */

const NOTHING_AHEAD: ReadonlySet<number> = new Set();

export class Marking {
	constructor(
		private readonly ledger: Ledger,
		private readonly clock: Clock,
	) {}

	mark({ user, conversation, membership }: Place, mark: Mark, tell: Tell<CountRow>): RowChange | MarkProblem {
		if (!isAboutAny(mark, conversation.timeline)) return 'no_such_message';
		const ahead = user.ahead.get(conversation.number) ?? NOTHING_AHEAD;
		const before: Cursor = { ts: membership.cursor, revision: membership.revision, ahead };
		const { cursor, ignored } = applyMark(before, mark, conversation.timeline, user.number);
		if (cursor === before)
			return {
				row: countRow(user, conversation, membership, user.ahead.get(conversation.number)),
				ignored,
				durable: this.ledger.settled(),
			};
		const after = { ...membership, cursor: cursor.ts, revision: cursor.revision };
		user.setMembership(conversation.number, after);
		if (cursor.ahead.size === 0) user.dropAhead(conversation.number);
		else user.setAhead(conversation.number, cursor.ahead);
		user.stamp = this.clock.next();
		const row = countRow(user, conversation, after, user.ahead.get(conversation.number));
		const fact: ReadFact = {
			type: 'cursor',
			user: user.id,
			conversation: conversation.id,
			at: user.stamp,
			cursor: cursor.ts,
			revision: cursor.revision,
			...aheadChange(mark, before, cursor),
		};
		return { row, ignored, durable: this.commit(fact, () => tell(row)) };
	}

	markThread(
		{ user, conversation, threadTs, thread, follow }: ThreadPlace,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): ThreadChange | MarkProblem {
		if (mark.type === 'unread' && thread.indexOf(mark.ts) < 0) return 'no_such_message';
		const cursor =
			mark.type === 'read'
				? threadReadUpTo(follow.cursor, mark.ts, thread.latest)
				: threadUnreadFrom(follow.cursor, mark.ts);
		if (cursor === follow.cursor)
			return {
				row: threadRow(user, conversation, threadTs, thread, follow),
				durable: this.ledger.settled(),
			};
		follow.cursor = cursor;
		user.stamp = this.clock.next();
		const row = threadRow(user, conversation, threadTs, thread, follow);
		const fact: ReadFact = {
			type: 'thread_cursor',
			user: user.id,
			conversation: conversation.id,
			threadTs,
			at: user.stamp,
			cursor,
		};
		return { row, durable: this.commit(fact, () => tell(row)) };
	}

	setPreference(
		{ user, conversation, membership }: Place,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): RowChange {
		const muted = preference.muted ?? membership.muted;
		const level = preference.level ?? membership.level;
		if (muted === membership.muted && level === membership.level)
			return {
				row: countRow(user, conversation, membership, user.ahead.get(conversation.number)),
				ignored: false,
				durable: this.ledger.settled(),
			};
		const after = { ...membership, muted, level };
		user.setMembership(conversation.number, after);
		user.stamp = this.clock.next();
		const row = countRow(user, conversation, after, user.ahead.get(conversation.number));
		const fact: ReadFact = {
			type: 'preference',
			user: user.id,
			conversation: conversation.id,
			at: user.stamp,
			muted,
			level,
		};
		return { row, ignored: false, durable: this.commit(fact, () => tell(row)) };
	}

	setActive(user: LoadedUser, active: boolean): Promise<void> | null {
		if (user.activity.isActiveAt(this.clock.last()) === active) return null;
		const at = this.clock.next();
		user.activity.add(at, active);
		return this.ledger.commit([{ type: 'activity', user: user.id, at, active }]);
	}

	/** `tell` is hung on the commit in this very turn: that is what keeps events in the order of stamps. */
	private commit(fact: ReadFact, tell: () => void): Promise<void> {
		return this.ledger.commit([fact]).then(tell);
	}
}

/** What a mark did to the ahead set, as the store needs to know it. */
function aheadChange(mark: Mark, before: Cursor, after: Cursor): { ahead?: object } {
	if (before.ahead === after.ahead) return {};
	if (mark.type === 'unread') return { ahead: { dropFrom: mark.ts } };
	const add = [...after.ahead].filter((ts) => !before.ahead.has(ts));
	return {
		ahead: { ...(after.ts > before.ts ? { dropUpTo: after.ts } : {}), ...(add.length > 0 ? { add } : {}) },
	};
}
