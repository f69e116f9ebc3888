import {
	applyMark,
	type Cursor,
	firstOf,
	isAboutAny,
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
import type { Fence, Since } from '../fence.ts';
import type { UserCopy } from '../views/user-copy.ts';
import type { BackTo, Place, Views } from '../views/views.ts';
import { type Membership, packActivity, packFollow, packMembership } from './packing.ts';
import { rowOf, threadRowOf } from './reading.ts';
import { cursorFact, preferenceFact, threadFact } from './standing-facts.ts';
import { ACTIVITY, activityIn, followField, membershipField } from './user-state.ts';
import type { Users } from './users.ts';

/** Wrapped, so that it is not waited for where it is handed over. */
interface Appended {
	readonly logged: Promise<void>;
}

/**
 * Moves read positions and preferences: reads, decides with the model's functions, sets if unchanged, and begins
 * again where another device was faster. Called in a turn of the user in the conversation, with the stamp taken in it.
 */
export class Marking {
	constructor(
		private readonly users: Users,
		private readonly views: Views,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
		private readonly fence: Fence,
	) {}

	async mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		return this.onMembership(user, conversation, tell, cursorFact, neededBy(mark), (place) => {
			const { timeline } = place.conversation;
			const { membership } = place;
			if (!isAboutAny(mark, timeline)) return 'no_such_message';
			const { cursor: ts, revision, ahead } = membership;
			const before: Cursor = { ts, revision, ahead };
			const { cursor, ignored } = applyMark(before, mark, timeline, place.user.number);
			if (cursor === before) return { ignored };
			const after = { cursor: cursor.ts, revision: cursor.revision, ahead: cursor.ahead };
			return { ignored, after: { ...membership, ...after } };
		});
	}

	async setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		return this.onMembership(user, conversation, tell, preferenceFact, {}, ({ membership }) => {
			const muted = preference.muted ?? membership.muted;
			const level = preference.level ?? membership.level;
			if (muted === membership.muted && level === membership.level) return { ignored: false };
			return { ignored: false, after: { ...membership, muted, level } };
		});
	}

	/**
	 * `decide` says what the membership becomes; without, nothing changes. Then too it is told to the log how it stands:
	 * whoever changed it may have died before.
	 */
	private async onMembership(
		user: string,
		conversation: string,
		tell: Tell<CountRow>,
		factOf: typeof cursorFact,
		needed: { readonly backTo?: BackTo },
		decide: (place: Place) => MarkProblem | { readonly ignored: boolean; readonly after?: Membership },
	): Promise<RowChange | MarkProblem> {
		const stamp = this.clock.next();
		const options = { ...needed, atOnce: 'each as it is' } as const;
		const count = () => this.views.at(user, conversation, rowOf);
		for (;;) {
			const since = await this.fence.since();
			const decided = await this.views.at(
				user,
				conversation,
				(place) => ({ ...place, decision: decide(place) }),
				options,
			);
			if (!decided) return 'not_a_member';
			const { decision, membership } = decided;
			if (typeof decision === 'string') return decision;
			const { ignored, after } = decision;
			if (!after) {
				const row = await count();
				if (!row) return 'not_a_member';
				const appended = await this.append(factOf(user, conversation, membership), since);
				return { row, ignored, durable: this.durable(appended, since) };
			}
			const at = afterAll(decided.user, membership, stamp);
			const changed = { [membershipField(conversation)]: packMembership({ ...after, at }) };
			if (!(await this.users.setOn(decided.user, at, changed))) continue;
			// On its way while it is counted; told when both are done.
			const appended = await this.append(factOf(user, conversation, { ...after, at }), since);
			const row = await count();
			if (!row) return 'not_a_member';
			return { row, ignored, durable: this.durable(appended, since, () => tell(row)) };
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
			const since = await this.fence.since();
			const decided = await this.views.inThread(
				user,
				conversation,
				threadTs,
				(place) => ({
					...place,
					isThere: place.thread.indexOf(mark.ts) >= 0,
					cursor:
						mark.type === 'read'
							? threadReadUpTo(place.follow.cursor, mark.ts, place.thread.latest)
							: threadUnreadFrom(place.follow.cursor, mark.ts),
				}),
				'each as it is',
			);
			if (!decided) return 'not_following';
			const { cursor, follow } = decided;
			if (mark.type === 'unread' && !decided.isThere) return 'no_such_message';
			const changes = cursor !== follow.cursor;
			const at = afterAll(decided.user, follow, stamp);
			const moved = changes ? { ...follow, cursor, at } : follow;
			if (changes && !(await this.users.setOn(decided.user, at, { [field]: packFollow(moved) }))) continue;
			const appended = await this.append(threadFact(user, conversation, threadTs, moved), since);
			const row = await this.views.inThread(user, conversation, threadTs, threadRowOf);
			if (!row) return 'not_following';
			return { row, durable: this.durable(appended, since, changes ? () => tell(row) : undefined) };
		}
	}

	async setActive(user: string, active: boolean): Promise<void> {
		for (;;) {
			const since = await this.fence.since();
			const copy = await this.users.copies.look(user);
			const moments = activityIn(copy.fields);
			const newest = moments.at(-1);
			// By the newest moment, and not by this process's clock, which may lie before it.
			if ((newest?.active ?? false) === active) {
				if (newest)
					await this.durable(await this.append({ type: 'activity', user, ...newest }, since), since);
				return;
			}
			const at = Math.max(this.clock.next(), (newest?.at ?? 0) + 1);
			const changed = { [ACTIVITY]: packActivity([...moments, { at, active }]) };
			if (!(await this.users.setOn(copy, 0, changed))) continue;
			await this.durable(await this.append({ type: 'activity', user, at, active }, since), since);
			return;
		}
	}

	/** Puts it on its way into the log, where what was decided on a state of another time must not come. */
	private async append(fact: ReadFact, since: Since): Promise<Appended> {
		await this.fence.assured(since);
		const logged = this.ledger.commit([fact]);
		// Whoever waits for it is told; until somebody does, nobody minds.
		logged.catch(() => undefined);
		return { logged };
	}

	/**
	 * `tell` is hung on it in the turn in which it is known, of which there is one at a time: that is what keeps events in the order
	 * of stamps. What came into the log too late is not acknowledged.
	 */
	private durable({ logged }: Appended, since: Since, tell: () => void = () => undefined): Promise<void> {
		return logged.then(tell).then(() => this.fence.assured(since));
	}
}

/**
 * Who marks as read what lies far behind needs nothing of what they skip: the newest ts decides, and what is counted afterwards
 * begins at the new cursor. That is loaded before, so that a mark is not set where it cannot be counted.
 */
const neededBy = (mark: Mark): { readonly backTo: BackTo } => ({
	backTo: (cursor) =>
		mark.type === 'read' ? Math.max(cursor, mark.ts) : Math.min(cursor, firstOf(mark) - 1),
});

/** A stamp for a change of now: a device at another gateway, whose clock is ahead, may have been here, or elsewhere, before. */
const afterAll = (user: UserCopy, { at }: { readonly at: number }, stamp: number): number =>
	Math.max(stamp, at + 1, user.stamp + 1);
