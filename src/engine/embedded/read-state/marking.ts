import {
	applyMark,
	type Cursor,
	type Mark,
	threadReadUpTo,
	threadUnreadFrom,
} from '../../../model/cursor.ts';
import type { Clock } from '../../../model/ts.ts';
import type { NotificationLevel, ReadFact } from '../../ports/facts.ts';
import type { MarkProblem, RowChange, ThreadChange } from '../../ports/read-state.ts';
import type { Ledger } from '../../ports/store.ts';
import type { LoadedUser } from './loaded.ts';
import type { Place, ThreadPlace } from './places.ts';
import { countRow, threadRow } from './rows.ts';

/** Moves read positions and preferences of what is loaded: stamped, applied and handed over in one turn. */

const NOTHING_AHEAD: ReadonlySet<number> = new Set();

export class Marking {
	constructor(
		private readonly ledger: Ledger,
		private readonly clock: Clock,
	) {}

	mark({ user, conversation, membership }: Place, mark: Mark): RowChange | MarkProblem {
		if (mark.type !== 'read' && conversation.timeline.indexOf(mark.ts) < 0) return 'no_such_message';
		const ahead = user.ahead.get(conversation.number) ?? NOTHING_AHEAD;
		const before: Cursor = { ts: membership.cursor, revision: membership.revision, ahead };
		const { cursor, ignored } = applyMark(before, mark, conversation.timeline, user.number);
		if (cursor === before) return { row: countRow(user, conversation, membership), ignored, durable: null };
		const after = { ...membership, cursor: cursor.ts, revision: cursor.revision };
		user.memberships.set(conversation.number, after);
		if (cursor.ahead.size === 0) user.ahead.delete(conversation.number);
		else user.ahead.set(conversation.number, cursor.ahead);
		const durable = this.commit(user, (at) => ({
			type: 'cursor',
			user: user.id,
			conversation: conversation.id,
			at,
			cursor: cursor.ts,
			revision: cursor.revision,
			...aheadChange(mark, before, cursor),
		}));
		return { row: countRow(user, conversation, after), ignored, durable };
	}

	markThread(
		{ user, conversation, threadTs, thread, follow }: ThreadPlace,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
	): ThreadChange | MarkProblem {
		if (mark.type === 'unread' && thread.indexOf(mark.ts) < 0) return 'no_such_message';
		const cursor =
			mark.type === 'read'
				? threadReadUpTo(follow.cursor, mark.ts, thread.latest)
				: threadUnreadFrom(follow.cursor, mark.ts);
		const moved = cursor !== follow.cursor;
		follow.cursor = cursor;
		const durable = moved
			? this.commit(user, (at) => ({
					type: 'thread_cursor',
					user: user.id,
					conversation: conversation.id,
					threadTs,
					at,
					cursor,
				}))
			: null;
		return { row: threadRow(user, conversation, threadTs, thread, follow), durable };
	}

	setPreference(
		{ user, conversation, membership }: Place,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
	): RowChange {
		const muted = preference.muted ?? membership.muted;
		const level = preference.level ?? membership.level;
		const after = { ...membership, muted, level };
		const changed = muted !== membership.muted || level !== membership.level;
		if (changed) user.memberships.set(conversation.number, after);
		const durable = changed
			? this.commit(user, (at) => ({
					type: 'preference',
					user: user.id,
					conversation: conversation.id,
					at,
					muted,
					level,
				}))
			: null;
		return { row: countRow(user, conversation, after), ignored: false, durable };
	}

	setActive(user: LoadedUser, active: boolean): Promise<void> | null {
		if (user.activity.isActiveAt(this.clock.last()) === active) return null;
		const at = this.clock.next();
		user.activity.add(at, active);
		return this.ledger.commit([{ type: 'activity', user: user.id, at, active }]);
	}

	private commit(user: LoadedUser, fact: (at: number) => ReadFact): Promise<void> {
		user.stamp = this.clock.next();
		return this.ledger.commit([fact(user.stamp)]);
	}
}

/** What a mark did to the ahead set, as the store needs to know it. */
function aheadChange(mark: Mark, before: Cursor, after: Cursor): { ahead?: object } {
	if (before.ahead === after.ahead) return {};
	if (mark.type === 'unread') return { ahead: { dropFrom: mark.ts } };
	if (after.ts > before.ts) return { ahead: { dropUpTo: after.ts } };
	return { ahead: { add: mark.ts } };
}
