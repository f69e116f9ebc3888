import type { NotificationLevel } from '../engine/ports/facts.ts';
import type { MarkProblem, OnDurable, RowChange, ThreadChange } from '../engine/ports/read-state.ts';
import type { Decided, Views } from '../engine/ports/views.ts';
import {
	applyMark,
	type Mark,
	namesAnyMessageOf,
	oldestTsOf,
	threadReadUpTo,
	threadUnreadFrom,
} from '../model/cursor.ts';
import { type CountRow, countRow, type ThreadRow, threadRow } from '../model/rows.ts';
import type { MemberContext, MembershipView } from '../model/views.ts';
import { inConversation, inThread, scopeOfConversation, scopeOfThread, toCursor } from './scopes.ts';

/** Changes that a user makes to their own state: marks, preferences, activity. */

interface DecidedRow extends Decided {
	/** The mark carried an older revision and moved nothing. */
	readonly ignored: boolean;
}

export interface ThreadMark {
	readonly type: 'read' | 'unread';
	readonly ts: number;
}

export interface Preference {
	readonly muted?: boolean;
	readonly level?: NotificationLevel;
}

/** Later than any change of activity. */
const BY_NOW = Number.MAX_SAFE_INTEGER / 4;

export class Marks {
	constructor(protected readonly views: Views) {}

	mark(
		user: string,
		conversation: string,
		mark: Mark,
		onDurable: OnDurable<CountRow>,
	): Promise<RowChange | MarkProblem> {
		const after = (membership: MembershipView) => neededBy(mark, membership);
		return this.changeMembership(user, conversation, after, onDurable, (member) => {
			const { timeline } = member.conversation;
			const { cursor: ts, revision, ahead } = member.membership;
			if (!namesAnyMessageOf(mark, timeline)) return 'no_such_message';
			const before = { ts, revision, ahead };
			const { cursor, ignored } = applyMark(before, mark, timeline, member.user.number);
			return { change: { type: 'cursor', conversation, cursor }, moves: cursor !== before, ignored };
		});
	}

	setPreference(
		user: string,
		conversation: string,
		preference: Preference,
		onDurable: OnDurable<CountRow>,
	): Promise<RowChange | MarkProblem> {
		return this.changeMembership(user, conversation, toCursor, onDurable, ({ membership }) => {
			const { muted = membership.muted, level = membership.level } = preference;
			const moves = muted !== membership.muted || level !== membership.level;
			return { change: { type: 'preference', conversation, muted, level }, moves, ignored: false };
		});
	}

	private async changeMembership(
		user: string,
		conversation: string,
		after: (membership: MembershipView) => number,
		onDurable: OnDurable<CountRow>,
		decide: (member: MemberContext) => DecidedRow | MarkProblem,
	): Promise<RowChange | MarkProblem> {
		const changed = await this.views.change<DecidedRow, MarkProblem, CountRow>(user, {
			about: conversation,
			scope: scopeOfConversation(conversation, after),
			decide: (views) => inConversation(views, conversation, decide) ?? 'not_a_member',
			showScope: scopeOfConversation(conversation),
			show: (views) => inConversation(views, conversation, countRow),
			onDurable,
		});
		if (changed === null) return 'not_a_member';
		if (typeof changed === 'string') return changed;
		const { decided, shown: row, durable } = changed;
		return { row, ignored: decided.ignored, durable };
	}

	async markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: ThreadMark,
		onDurable: OnDurable<ThreadRow>,
	): Promise<ThreadChange | MarkProblem> {
		const scope = scopeOfThread(conversation, threadTs);
		const changed = await this.views.change<Decided, MarkProblem, ThreadRow>(user, {
			about: conversation,
			scope,
			decide: (views) => {
				const member = inThread(views, conversation, threadTs, (found) => found);
				if (!member) return 'not_following';
				const { thread, follow } = member;
				if (mark.type === 'unread' && thread.indexOf(mark.ts) < 0) return 'no_such_message';
				const cursor =
					mark.type === 'read'
						? threadReadUpTo(follow.cursor, mark.ts, thread.latest)
						: threadUnreadFrom(follow.cursor, mark.ts);
				const change = { type: 'thread_cursor', conversation, threadTs, cursor } as const;
				return { change, moves: cursor !== follow.cursor };
			},
			showScope: scope,
			show: (views) => inThread(views, conversation, threadTs, threadRow),
			onDurable,
		});
		if (changed === null) return 'not_following';
		return typeof changed === 'string' ? changed : { row: changed.shown, durable: changed.durable };
	}

	/** The user became active (connected and not away) or inactive. Resolves when durable. */
	async setActive(user: string, active: boolean): Promise<void> {
		const changed = await this.views.change<Decided, never, true>(user, {
			about: null,
			scope: {},
			decide: (views) => ({
				change: { type: 'activity', active },
				moves: views.user.activity.isActiveAt(BY_NOW) !== active,
			}),
			showScope: {},
			show: () => true,
			onDurable: () => undefined,
		});
		await changed?.durable;
	}
}

/**
 * The ts after which the mark needs entries loaded. A `read` mark needs none before its target: it only needs `timeline.latest`,
 * and counting starts at the new cursor.
 */
function neededBy(mark: Mark, { cursor, revision }: MembershipView): number {
	if (mark.type !== 'read') return Math.min(cursor, oldestTsOf(mark) - 1);
	const isOutdated = mark.revision !== undefined && mark.revision < revision;
	return isOutdated ? cursor : Math.max(cursor, mark.ts);
}
