import type { Clock } from '../../../../model/ts.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Ledger } from '../../../ports/store.ts';
import type { Change, Changed, Changing, Decided } from '../../../ports/views.ts';
import type { Fence, Since } from '../fence.ts';
import type { When } from '../views/copy-snapshot.ts';
import type { UserCopy } from '../views/user-copy.ts';
import type { CopiedViews } from '../views/views.ts';
import { type Follow, packActivity, packFollow, packMembership, type StoredMembership } from './packing.ts';
import { cursorFact, preferenceFact, threadFact } from './read-facts.ts';
import { ACTIVITY, activityIn, type Fields, followField, membershipField } from './user-state.ts';
import type { Users } from './users.ts';

/** Wrapped, so that it is not waited for where it is handed over. */
interface Appended {
	readonly logged: Promise<void>;
}

/** The fields that become others, with which stamp, and how it stands then, for the log. */
interface Step {
	/** 0 for a change that no count shows. */
	readonly at: number;
	readonly fields: Fields;
	/** Null where there is nothing to publish. */
	readonly fact: ReadFact | null;
}

/**
 * Changes users: reads, decides, sets if unchanged, and begins again where another device was faster. A change that moves nothing is
 * appended and published as well: the process that made it may have died before it did. Called in a turn of the user in the
 * conversation, with the stamp taken in it.
 */
export class UserChanges {
	constructor(
		private readonly users: Users,
		private readonly views: CopiedViews,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
		private readonly fence: Fence,
	) {}

	async change<D extends Decided, Problem extends string, T>(
		user: string,
		{ scope, decide, shown, show, onDurable }: Changing<D, Problem, T>,
	): Promise<Changed<D, T> | Problem | null> {
		const stamp = this.clock.next();
		const when: When = { stamp, horizon: 0, leftSince: 0 };
		for (;;) {
			const since = await this.fence.since([user]);
			const { copy, decided } = await this.views.look(
				user,
				scope,
				when,
				(views) => ({ copy: views.user, decided: decide(views) }),
				'each as it is',
			);
			if (typeof decided === 'string') return decided;
			const { moves } = decided;
			const { at, fields, fact } = stepOf(copy, decided, stamp);
			if (moves && !(await this.users.setOn(copy, at, fields))) continue;
			// It is appended while it is counted, and published when both are done.
			const appended = await this.append(fact, since);
			const seen = await this.views.look(user, shown, when, show);
			if (seen === null) return null;
			return { decided, shown: seen, durable: this.durable(appended, since, () => onDurable(seen)) };
		}
	}

	/** Puts it on its way into the log, where what was decided on a state of another time must not come. */
	private async append(fact: ReadFact | null, since: Since): Promise<Appended> {
		await this.fence.assured(since);
		const logged = fact ? this.ledger.commit([fact]) : Promise.resolve();
		// Callers that wait for it get the error; without one it is no unhandled rejection.
		logged.catch(() => undefined);
		return { logged };
	}

	/**
	 * `tell` is hung on it in the turn in which it is known, of which there is one at a time: that is what keeps events in the order
	 * of stamps. What came into the log too late is not acknowledged.
	 */
	private durable({ logged }: Appended, since: Since, onDurable: () => void): Promise<void> {
		return logged.then(onDurable).then(() => this.fence.assured(since));
	}
}

/** A stamp for a change of now: a device at another gateway, whose clock is ahead, may have been here, or elsewhere, before. */
const afterAll = (user: UserCopy, { at }: { readonly at: number }, stamp: number): number =>
	Math.max(stamp, at + 1, user.stamp + 1);

function stepOf(user: UserCopy, { change, moves }: Decided, stamp: number): Step {
	if (change.type === 'activity') {
		const before = activityIn(user.fields);
		const at = Math.max(stamp, (before.at(-1)?.at ?? 0) + 1);
		const activity = moves ? [...before, { at, active: change.active }] : before;
		const newest = activity.at(-1);
		const fact = newest ? ({ type: 'activity', user: user.id, ...newest } as const) : null;
		return { at: 0, fields: { [ACTIVITY]: packActivity(activity) }, fact };
	}
	const { conversation } = change;
	if (change.type === 'thread_cursor') {
		const { threadTs, cursor } = change;
		const follow = user.follow(conversation, threadTs) as Follow;
		const after = moves ? { ...follow, cursor, at: afterAll(user, follow, stamp) } : follow;
		const fields = { [followField(conversation, threadTs)]: packFollow(after) };
		return { at: after.at, fields, fact: threadFact(user.id, conversation, threadTs, after) };
	}
	const membership = user.membership(conversation) as StoredMembership;
	const after = moves
		? { ...membership, ...becoming(change), at: afterAll(user, membership, stamp) }
		: membership;
	const factOf = change.type === 'cursor' ? cursorFact : preferenceFact;
	const fields = { [membershipField(conversation)]: packMembership(after) };
	return { at: after.at, fields, fact: factOf(user.id, conversation, after) };
}

function becoming(change: Extract<Change, { type: 'cursor' | 'preference' }>): Partial<StoredMembership> {
	if (change.type === 'preference') return { muted: change.muted, level: change.level };
	const { ts, revision, ahead } = change.cursor;
	return { cursor: ts, revision, ahead };
}
