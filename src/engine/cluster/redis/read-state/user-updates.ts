import { withCursor } from '../../../../model/membership.ts';
import type { Clock } from '../../../../model/ts.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Ledger } from '../../../ports/store.ts';
import type { ChangeRequest, ChangeResult, Decided } from '../../../ports/views.ts';
import type { Fence, FencePoint } from '../fence.ts';
import type { ReadTime } from '../views/copy-snapshot.ts';
import type { UserCopy } from '../views/user-copy.ts';
import type { CopiedViews } from '../views/views.ts';
import {
	packActivity,
	packFollow,
	packMembership,
	type RedisFollow,
	type RedisMembership,
} from './packing.ts';
import { cursorFact, preferenceFact, threadFact } from './read-facts.ts';
import { ACTIVITY, activityIn, type Fields, followField, membershipField } from './user-state.ts';
import type { Users } from './users.ts';

/** An object, so that awaiting it does not await the promise. */
interface Appended {
	readonly logged: Promise<void>;
}

/** Fields to set, their stamp, and the fact for the log. */
interface FieldUpdate {
	/** 0 for a change that affects no count. */
	readonly at: number;
	readonly fields: Fields;
	/** Null if there is nothing to append. */
	readonly fact: ReadFact | null;
}

/**
 * Changes users: reads, decides, sets if unchanged, and starts over if another process has changed the user. A change without effect is also
 * appended and published, because the process that made the original change may have died before. Runs in the queue of the user and
 * conversation, and takes its stamp there.
 */
export class UserUpdates {
	constructor(
		private readonly users: Users,
		private readonly views: CopiedViews,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
		private readonly fence: Fence,
	) {}

	async change<D extends Decided, Problem extends string, T>(
		user: string,
		{ scope, decide, showScope, show, onDurable }: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		const stamp = this.clock.next();
		const time: ReadTime = { stamp, horizon: 0, leftSince: 0 };
		for (;;) {
			const fencePoint = await this.fence.begin([user]);
			const { copy, decided } = await this.views.read(
				user,
				scope,
				time,
				(views) => ({ copy: views.user, decided: decide(views) }),
				'any',
			);
			if (typeof decided === 'string') return decided;
			const { moves } = decided;
			const { at, fields, fact } = updateOf(copy, decided, stamp);
			if (moves && !(await this.users.setOn(copy, at, fields))) continue;
			// Append while counting; publish when both are done.
			const appended = await this.append(fact, fencePoint);
			const row = await this.views.read(user, showScope, time, show);
			if (row === null) return null;
			return { decided, shown: row, durable: this.durable(appended, fencePoint, () => onDurable(row)) };
		}
	}

	/** Appends the fact to the log, unless it was decided on the state of another epoch. */
	private async append(fact: ReadFact | null, fencePoint: FencePoint): Promise<Appended> {
		await this.fence.verify(fencePoint);
		const logged = fact ? this.ledger.commit([fact]) : Promise.resolve();
		// Callers that await it get the error; without them it must not be an unhandled rejection.
		logged.catch(() => undefined);
		return { logged };
	}

	/**
	 * `onDurable` is chained without an await, and one change runs at a time, which keeps events in the order
	 * of stamps. A change that reached the log too late is not acknowledged.
	 */
	private durable({ logged }: Appended, fencePoint: FencePoint, onDurable: () => void): Promise<void> {
		return logged.then(onDurable).then(() => this.fence.verify(fencePoint));
	}
}

/** A stamp later than every change so far, even if another gateway's clock is ahead. */
const nextStamp = (user: UserCopy, { at }: { readonly at: number }, stamp: number): number =>
	Math.max(stamp, at + 1, user.stamp + 1);

function updateOf(user: UserCopy, { change, moves }: Decided, stamp: number): FieldUpdate {
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
		const follow = user.follow(conversation, threadTs) as RedisFollow;
		const after = moves ? { ...follow, cursor, at: nextStamp(user, follow, stamp) } : follow;
		const fields = { [followField(conversation, threadTs)]: packFollow(after) };
		return { at: after.at, fields, fact: threadFact(user.id, conversation, threadTs, after) };
	}
	const membership = user.membership(conversation) as RedisMembership;
	const { muted, level } = change.type === 'preference' ? change : membership;
	const changed =
		change.type === 'cursor' ? withCursor(membership, change.cursor) : { ...membership, muted, level };
	const after = moves ? { ...changed, at: nextStamp(user, membership, stamp) } : membership;
	const factOf = change.type === 'cursor' ? cursorFact : preferenceFact;
	const fields = { [membershipField(conversation)]: packMembership(after) };
	return { at: after.at, fields, fact: factOf(user.id, conversation, after) };
}
