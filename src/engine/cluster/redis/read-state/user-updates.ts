import { Activity } from '../../../../model/activity.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { ChangeRequest, ChangeResult, Decided, Scope } from '../../../ports/views.ts';
import { applyChange, type StampedFollow, type StampedMembership } from '../../../read-state/user-steps.ts';
import type { GuardPoint } from '../epoch-guard.ts';
import { slotOf } from '../slots.ts';
import type { Context } from './context.ts';
import type { CopiedViews } from './copied-views.ts';
import type { ReadTime } from './copy-snapshot.ts';
import { ACTIVITY, membershipFact, packActivity, STAMP, threadFact } from './packing.ts';
import type { UserCopies } from './user-copies.ts';
import { type UserCopy, UserDraft } from './user-copy.ts';

/** Maximum number of changes of one user that are made together: requests of many devices, or all conversations at once. */
const MAX_TOGETHER = 256;

// biome-ignore lint/suspicious/noExplicitAny: requests of different types wait in one queue.
type AnyRequest = ChangeRequest<any, any, any>;
type AnyResult = ChangeResult<Decided, unknown> | string | null;

interface WaitingChange {
	readonly request: AnyRequest;
	readonly stamp: number;
	readonly done: PromiseWithResolvers<AnyResult>;
}

interface DecidedChange extends WaitingChange {
	/** The decision, or the problem. */
	readonly decided: Decided | string;
	/** Null if there is nothing to append. */
	readonly fact: ReadFact | null;
}

/**
 * Changes users: reads, decides, sets if unchanged, and starts over if another process has changed the user. Changes of one user take
 * turns; those that wait are made together, with the same round trips as one. A change without effect is also appended and published,
 * because the process that made the original change may have died before it did so.
 */
export class UserUpdates {
	/** By user: the changes that wait for their turn. */
	private readonly waiting = new Map<string, WaitingChange[]>();

	constructor(
		private readonly context: Context,
		private readonly users: UserCopies,
		private readonly views: CopiedViews,
	) {}

	change<D extends Decided, Problem extends string, T>(
		user: string,
		request: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		const change = { request, stamp: this.context.clock.next(), done: Promise.withResolvers<AnyResult>() };
		const queue = this.waiting.get(user);
		if (queue) queue.push(change);
		else {
			this.waiting.set(user, [change]);
			void this.takeTurns(user);
		}
		return change.done.promise as Promise<ChangeResult<D, T> | Problem | null>;
	}

	private async takeTurns(user: string): Promise<void> {
		for (let queue = this.waiting.get(user); queue?.length; queue = this.waiting.get(user)) {
			const together = queue.splice(0, MAX_TOGETHER);
			const isDone = await this.attempt(user, together, together.length === 1);
			// One of them may need a conversation on a node that is lost.
			if (!isDone) for (const change of together) await this.attempt(user, [change], true);
		}
		this.waiting.delete(user);
	}

	private async attempt(user: string, changes: readonly WaitingChange[], isLast: boolean): Promise<boolean> {
		try {
			await this.changeTogether(user, changes);
			return true;
		} catch (error) {
			if (isLast) for (const { done } of changes) done.reject(error);
			return false;
		}
	}

	private async changeTogether(user: string, changes: readonly WaitingChange[]): Promise<void> {
		const { guard } = this.context;
		const time: ReadTime = { stamp: changes.at(-1)?.stamp ?? 0, horizon: 0, leftSince: 0 };
		const { point, decisions } = await guard.retrying(() => this.decideAndSet(user, changes, time));
		// Reject a change that was decided in another epoch. Otherwise append while counting, and publish when both are done.
		await guard.verify(point);
		const made = decisions.filter(({ decided }) => typeof decided !== 'string');
		const logged = made.map(({ fact }) => this.append(fact));
		const scope = scopeOf(made, ({ showScope }) => showScope);
		const shown = await this.views.read(user, scope, time, (views) =>
			made.map(({ request }) => request.show(views)),
		);
		for (const { decided, done } of decisions) if (typeof decided === 'string') done.resolve(decided);
		for (const [index, { request, decided, done }] of made.entries()) {
			const row = shown[index];
			if (row === null) {
				done.resolve(null);
				continue;
			}
			// Chained without an await, which keeps events in the order of stamps. `verify` rejects a change that reached the log after its
			// epoch had ended.
			const durable = (logged[index] as Promise<void>)
				.then(() => request.onDurable(row))
				.then(() => guard.verify(point));
			done.resolve({ decided: decided as Decided, shown: row, durable });
		}
	}

	/** Decides all changes, each on the state after the one before, and sets the fields that they change. */
	private async decideAndSet(
		user: string,
		changes: readonly WaitingChange[],
		time: ReadTime,
	): Promise<{ readonly point: GuardPoint; readonly decisions: readonly DecidedChange[] }> {
		const scope = scopeOf(changes, (request) => request.scope);
		for (;;) {
			const point = await this.context.guard.begin([user]);
			const { copy, version, draft, decisions } = await this.views.read(
				user,
				scope,
				time,
				(views) => {
					const draft = new ChangedUser(views.user);
					const decisions = changes.map((change): DecidedChange => {
						const decided = change.request.decide(views.asOf(draft)) as Decided | string;
						const fact = typeof decided === 'string' ? null : draft.apply(decided, change.stamp);
						return { ...change, decided, fact };
					});
					return { copy: views.user, version: views.user.version, draft, decisions };
				},
				'any',
			);
			const { changed } = draft;
			const isUnchanged = Object.keys(changed).length === 0;
			if (isUnchanged || (await this.users.set(copy, version, changed, point.tokenOf(slotOf(user)))))
				return { point, decisions };
		}
	}

	private append(fact: ReadFact | null): Promise<void> {
		const logged = fact ? this.context.ledger.commit([fact]) : Promise.resolve();
		// Callers that await it get the error; without them it must not be an unhandled rejection.
		logged.catch(() => undefined);
		return logged;
	}
}

/** The parts of conversations that all of these changes need; no change needs all conversations of a user. */
const scopeOf = (changes: readonly WaitingChange[], scope: (request: AnyRequest) => Scope): Scope => ({
	some: (user) => changes.flatMap(({ request }) => scope(request).some?.(user) ?? []),
});

/** A user with the changes that were decided so far. */
class ChangedUser extends UserDraft {
	readonly id: string;
	readonly number: number;
	activity: Activity;
	stamp: number;

	constructor(private readonly user: UserCopy) {
		super(user);
		({ id: this.id, number: this.number, activity: this.activity, stamp: this.stamp } = user);
	}

	get changed(): Record<string, string> {
		const { user, stamp, activity } = this;
		return {
			...this.fields,
			...(stamp === user.stamp ? {} : { [STAMP]: String(stamp) }),
			...(activity === user.activity ? {} : { [ACTIVITY]: packActivity(activity.all()) }),
		};
	}

	apply({ change, moves }: Decided, stamp: number): ReadFact | null {
		const { id } = this;
		if (change.type === 'activity') return this.setActive(change.active, moves, stamp);
		if (moves) {
			// Later than every change so far, even if another gateway's clock is ahead.
			this.stamp = Math.max(stamp, this.stamp + 1);
			applyChange(this, change, this.stamp);
		}
		const { conversation } = change;
		// Set in Redis even without effect: after a rebuild, Redis may lack the original change, and another gateway may use a copy without it.
		if (change.type === 'thread_cursor') {
			const follow = this.follow(conversation, change.threadTs) as StampedFollow;
			this.setFollow(conversation, change.threadTs, follow);
			return threadFact(id, conversation, change.threadTs, follow);
		}
		const membership = this.membership(conversation) as StampedMembership;
		this.setMembership(conversation, membership);
		return membershipFact(change.type, id, conversation, membership);
	}

	private setActive(active: boolean, moves: boolean, stamp: number): ReadFact | null {
		const changes = this.activity.all();
		if (moves) {
			changes.push({ at: Math.max(stamp, this.activity.newest + 1), active });
			this.activity = new Activity(this.user.context.starts, changes);
		}
		const newest = changes.at(-1);
		return newest ? { type: 'activity', user: this.id, ...newest } : null;
	}
}
