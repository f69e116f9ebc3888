import { Activity } from '../../../../model/activity.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { ChangeRequest, ChangeResult, Decided, Scope } from '../../../ports/views.ts';
import { applyChange, type StampedFollow, type StampedMembership } from '../../../read-state/user-steps.ts';
import type { FencePoint } from '../fence.ts';
import { slotOf } from '../slots.ts';
import type { Context } from './context.ts';
import type { CopiedViews } from './copied-views.ts';
import type { CopySnapshot, ReadTime } from './copy-snapshot.ts';
import { ACTIVITY, membershipFact, packActivity, STAMP, threadFact, unpackActivity } from './packing.ts';
import type { UserCopies } from './user-copies.ts';
import { type UserCopy, UserDraft } from './user-copy.ts';

/** Changes of one user that are made together: requests of many devices, or all conversations at once. */
const MAX_TOGETHER = 256;

// biome-ignore lint/suspicious/noExplicitAny: requests of different types wait in one queue.
type AnyRequest = ChangeRequest<any, any, any>;
type AnyResult = ChangeResult<Decided, unknown> | string | null;

interface WaitingChange {
	readonly request: AnyRequest;
	readonly stamp: number;
	readonly done: PromiseWithResolvers<AnyResult>;
}

interface Outcome {
	/** The decision, or the problem. */
	readonly decided: Decided | string;
	/** Null if there is nothing to append. */
	readonly fact: ReadFact | null;
}

/**
 * Changes users: reads, decides, sets if unchanged, and starts over if another process has changed the user. Changes of one user take
 * turns; those that wait are made together, with the same round trips as one. A change without effect is also appended and published,
 * because the process that made the original change may have died before.
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
		const time: ReadTime = { stamp: changes.at(-1)?.stamp ?? 0, horizon: 0, leftSince: 0 };
		const { point, outcomes } = await this.context.fence.retrying(() =>
			this.decideAndSet(user, changes, time),
		);
		const made = changes.filter((_, index) => typeof outcomes[index]?.decided !== 'string');
		// Reject a change that was decided in another epoch. Otherwise append while counting, and publish when both are done.
		await this.context.fence.verify(point);
		const logged = outcomes.map(({ fact }) => this.append(fact));
		const shown = await this.views.read(
			user,
			merged(made, ({ showScope }) => showScope),
			time,
			(views) =>
				changes.map(({ request }, index) =>
					typeof outcomes[index]?.decided === 'string' ? null : request.show(views),
				),
		);
		for (const [index, { request, done }] of changes.entries()) {
			const { decided } = outcomes[index] as Outcome;
			const row = shown[index];
			if (typeof decided === 'string') done.resolve(decided);
			else if (row === null) done.resolve(null);
			else {
				// Chained without an await, which keeps events in the order of stamps. `verify` rejects a change that reached the log after its
				// epoch had ended.
				const durable = (logged[index] as Promise<void>)
					.then(() => request.onDurable(row))
					.then(() => this.context.fence.verify(point));
				done.resolve({ decided, shown: row, durable });
			}
		}
	}

	/** Decides all changes, each on the state after the one before, and sets the fields that they change. */
	private async decideAndSet(
		user: string,
		changes: readonly WaitingChange[],
		time: ReadTime,
	): Promise<{ readonly point: FencePoint; readonly outcomes: readonly Outcome[] }> {
		const scope = merged(changes, (request) => request.scope);
		for (;;) {
			const point = await this.context.fence.begin([user]);
			const { copy, version, draft, outcomes } = await this.views.read(
				user,
				scope,
				time,
				(views) => {
					const draft = new ChangedUser(views.user);
					const outcomes = changes.map(({ request, stamp }) => decide(views, draft, request, stamp));
					return { copy: views.user, version: views.user.version, draft, outcomes };
				},
				'any',
			);
			const { changed } = draft;
			const isUnchanged = Object.keys(changed).length === 0;
			if (isUnchanged || (await this.users.set(copy, version, changed, point.tokenOf(slotOf(user)))))
				return { point, outcomes };
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
const merged = (changes: readonly WaitingChange[], scopeOf: (request: AnyRequest) => Scope): Scope => ({
	some: (user) => changes.flatMap(({ request }) => scopeOf(request).some?.(user) ?? []),
});

/** A user with the changes that were decided so far. */
class ChangedUser extends UserDraft {
	readonly id: string;
	readonly number: number;
	activity: Activity;
	stamp: number;
	packedActivity: string;

	constructor(private readonly user: UserCopy) {
		super(user);
		this.id = user.id;
		this.number = user.number;
		this.activity = user.activity;
		this.stamp = user.stamp;
		this.packedActivity = user.packedActivity;
	}

	get changed(): Record<string, string> {
		const { user, stamp, packedActivity } = this;
		return {
			...this.fields,
			...(stamp === user.stamp ? {} : { [STAMP]: String(stamp) }),
			...(packedActivity === user.packedActivity ? {} : { [ACTIVITY]: packedActivity }),
		};
	}
}

function decide(views: CopySnapshot, user: ChangedUser, request: AnyRequest, stamp: number): Outcome {
	const decided = request.decide(views.asOf(user)) as Decided | string;
	if (typeof decided === 'string') return { decided, fact: null };
	const { change, moves } = decided;
	if (change.type === 'activity') {
		const before = unpackActivity(user.packedActivity);
		const at = Math.max(stamp, (before.at(-1)?.at ?? 0) + 1);
		const all = moves ? [...before, { at, active: change.active }] : before;
		user.packedActivity = packActivity(all);
		user.activity = new Activity(views.user.context.starts);
		user.activity.replace(all);
		const newest = all.at(-1);
		return { decided, fact: newest ? { type: 'activity', user: user.id, ...newest } : null };
	}
	if (moves) {
		// Later than every change so far, even if another gateway's clock is ahead.
		user.stamp = Math.max(stamp, user.stamp + 1);
		applyChange(user, change, user.stamp);
	}
	const { conversation } = change;
	if (change.type === 'thread_cursor') {
		const follow = user.follow(conversation, change.threadTs) as StampedFollow;
		return { decided, fact: threadFact(user.id, conversation, change.threadTs, follow) };
	}
	const membership = user.membership(conversation) as StampedMembership;
	return { decided, fact: membershipFact(change.type, user.id, conversation, membership) };
}
