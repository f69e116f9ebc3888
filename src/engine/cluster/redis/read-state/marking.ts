import {
	applyMark,
	type Cursor,
	type Mark,
	threadReadUpTo,
	threadUnreadFrom,
} from '../../../../model/cursor.ts';
import type { Clock } from '../../../../model/ts.ts';
import type { NotificationLevel, ReadFact } from '../../../ports/facts.ts';
import type {
	CountRow,
	MarkProblem,
	RowChange,
	Tell,
	ThreadChange,
	ThreadRow,
} from '../../../ports/read-state.ts';
import type { Ledger } from '../../../ports/store.ts';
import type { Conversations } from './conversations.ts';
import { type Membership, packActivity, packFollow, packMembership } from './packing.ts';
import { type ReadUser, type Rows, shown } from './rows.ts';
import {
	ACTIVITY,
	activeAt,
	activityIn,
	type Fields,
	followField,
	followIn,
	membershipField,
	membershipIn,
	STAMP,
	stampIn,
} from './user-state.ts';
import type { Users } from './users.ts';

/**
 * Moves read positions and preferences: reads, decides with the model's functions, sets if unchanged, and begins
 * again where another device was faster. Called in a turn of the conversation, with `at` taken in it.
 */
export class Marking {
	constructor(
		private readonly users: Users,
		private readonly conversations: Conversations,
		private readonly rows: Rows,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
		private readonly starts: readonly number[],
	) {}

	async mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const stamp = this.clock.next();
		return this.onMembership(user, conversation, stamp, tell, async (membership) => {
			const before: Cursor = {
				ts: membership.cursor,
				revision: membership.revision,
				ahead: membership.ahead,
			};
			const read = await this.entriesFor(conversation, mark, before);
			if (!read) return 'not_a_member';
			if (mark.type !== 'read' && read.timeline.indexOf(mark.ts) < 0) return 'no_such_message';
			const { cursor, ignored } = applyMark(before, mark, read.timeline, read.numberOf(user));
			if (cursor === before) return { ignored };
			const { revision, ahead } = cursor;
			const fact = {
				type: 'cursor',
				user,
				conversation,
				cursor: cursor.ts,
				revision,
				of: { joined: membership.joined, cursor: cursor.ts, revision },
				...aheadChange(mark, before, cursor),
			} as const;
			const after = { ...membership, cursor: cursor.ts, revision, ahead };
			return { ignored, after, fact: (at: number): ReadFact => ({ ...fact, at }) };
		});
	}

	/** What the mark's rule looks at of the timeline. */
	private entriesFor(conversation: string, mark: Mark, cursor: Cursor) {
		const where = { conversation, threadTs: null };
		if (mark.type === 'read') return this.conversations.entries(where, null);
		if (mark.type === 'unread') return this.conversations.entries(where, mark.ts - 1, 1);
		return this.conversations.entries(where, Math.min(cursor.ts, mark.ts - 1));
	}

	async setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const stamp = this.clock.next();
		return this.onMembership(user, conversation, stamp, tell, async (membership) => {
			const muted = preference.muted ?? membership.muted;
			const level = preference.level ?? membership.level;
			if (muted === membership.muted && level === membership.level) return { ignored: false };
			const of = { joined: membership.joined, cursor: membership.cursor, revision: membership.revision };
			const fact = { type: 'preference', user, conversation, muted, level, of } as const;
			const after = { ...membership, muted, level };
			return { ignored: false, after, fact: (at: number): ReadFact => ({ ...fact, at }) };
		});
	}

	/** `decide` says what the membership becomes, and the fact that tells of it; without, nothing changes. */
	private async onMembership(
		user: string,
		conversation: string,
		stamp: number,
		tell: Tell<CountRow>,
		decide: (membership: Membership) => Promise<
			| MarkProblem
			| {
					readonly ignored: boolean;
					readonly after?: Membership;
					readonly fact?: (at: number) => ReadFact;
			  }
		>,
	): Promise<RowChange | MarkProblem> {
		const field = membershipField(conversation);
		for (;;) {
			const fields = await this.users.some(user, [field, ACTIVITY]);
			const membership = membershipIn(fields, conversation);
			if (!membership?.member) return 'not_a_member';
			const decision = await decide(membership);
			if (typeof decision === 'string') return decision;
			const { ignored, after, fact } = decision;
			if (!after || !fact) {
				const row = await this.rows.row(this.userOf(user, fields), conversation, membership);
				return row ? { row: shown(row), ignored, durable: this.ledger.settled() } : 'not_a_member';
			}
			// A device at another gateway, whose clock is ahead, may have been here before.
			const at = Math.max(stamp, membership.at + 1);
			// Counted at the same time as set: both go out in one turn.
			const [set, counted] = await Promise.all([
				this.users.set(user, at, fields, { [field]: packMembership({ ...after, at }) }),
				this.rows.row(this.userOf(user, fields, at), conversation, after),
			]);
			if (!set) continue;
			if (!counted) return 'not_a_member';
			const row = shown(counted);
			return { row, ignored, durable: this.commit(fact(at), () => tell(row)) };
		}
	}

	async markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): Promise<ThreadChange | MarkProblem> {
		const stamp = this.clock.next();
		const field = followField(conversation, threadTs);
		for (;;) {
			const fields = await this.users.some(user, [field, ACTIVITY]);
			const follow = followIn(fields, conversation, threadTs);
			const after = mark.type === 'unread' ? mark.ts - 1 : null;
			const read = follow && (await this.conversations.entries({ conversation, threadTs }, after, 1));
			if (!follow || !read) return 'not_following';
			if (mark.type === 'unread' && read.timeline.indexOf(mark.ts) < 0) return 'no_such_message';
			const cursor =
				mark.type === 'read'
					? threadReadUpTo(follow.cursor, mark.ts, read.latest)
					: threadUnreadFrom(follow.cursor, mark.ts);
			const changes = cursor !== follow.cursor;
			const at = Math.max(stamp, follow.at + 1);
			const moved = changes ? { ...follow, cursor, at } : follow;
			const reader = this.userOf(user, fields, ...(changes ? [at] : []));
			const [set, counted] = await Promise.all([
				!changes || this.users.set(user, at, fields, { [field]: packFollow(moved) }),
				this.rows.threadRow(reader, conversation, threadTs, moved),
			]);
			if (!set) continue;
			if (!counted) return 'not_following';
			const row = shown(counted);
			if (!changes) return { row, durable: this.ledger.settled() };
			const { since } = follow;
			const fact = { type: 'thread_cursor', user, conversation, threadTs, at, cursor, since } as const;
			return { row, durable: this.commit(fact, () => tell(row)) };
		}
	}

	async setActive(user: string, active: boolean): Promise<void> {
		for (;;) {
			const fields = await this.users.some(user, [ACTIVITY]);
			if (activeAt(fields, this.starts)(this.clock.last()) === active) return;
			const at = this.clock.next();
			const moments = [...activityIn(fields), { at, active }];
			if (!(await this.users.set(user, 0, fields, { [ACTIVITY]: packActivity(moments) }))) continue;
			await this.ledger.commit([{ type: 'activity', user, at, active }]);
			return;
		}
	}

	/** With the stamp that a change under way gives it. */
	private userOf(id: string, fields: Fields, at = 0): ReadUser {
		const stamp = Math.max(stampIn(fields), at);
		return { id, fields: { ...fields, [STAMP]: String(stamp) }, starts: this.starts };
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
	if (after.ts > before.ts) return { ahead: { dropUpTo: after.ts } };
	return { ahead: { add: mark.ts } };
}
