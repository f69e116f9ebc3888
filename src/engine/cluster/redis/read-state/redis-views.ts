import { KeyedQueue } from '../../../../model/keyed-queue.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type {
	ChangeRequest,
	ChangeResult,
	Decided,
	Ids,
	OnMoved,
	Release,
	RepairProblem,
	Scope,
	ViewSnapshot,
	Views,
} from '../../../ports/views.ts';
import { type Context, contextOf, type RedisViewsParts } from './context.ts';
import { ConversationCopies } from './conversation-copies.ts';
import { CopiedViews } from './copied-views.ts';
import { EffectApplier } from './effect-applier.ts';
import { Listings } from './listings.ts';
import { UserCopies } from './user-copies.ts';
import { UserEffects } from './user-effects.ts';
import { repairUser } from './user-repair.ts';
import { UserUpdates } from './user-updates.ts';

export type { RedisViewsParts };

/** Clients that reconnect at the same time share one check. */
const AVAILABLE_MS = 1_000;

/**
 * Views in Redis, shared by any number of processes. Redis has what changed lately, and the store has everything older.
 *
 * A conversation is in one slot and a user in another, so a change of both is made one after the other:
 * the conversation by its owner, the user by compare-and-set. Within a process, effects of one conversation are queued,
 * and so are changes of one user, so that each is made on the state after the one before.
 */
export class RedisViews implements Views {
	private readonly queue = new KeyedQueue();
	private readonly users: UserCopies;
	private readonly views: CopiedViews;
	private readonly applier: EffectApplier;
	private readonly userUpdates: UserUpdates;
	private readonly listings: Listings;
	private checked: { readonly at: number; readonly complete: Promise<unknown> } | undefined;

	private constructor(
		private readonly context: Context,
		starts: readonly number[],
	) {
		this.users = new UserCopies(context, starts);
		this.views = new CopiedViews(context.guard, this.users, new ConversationCopies(context));
		this.applier = new EffectApplier(context, new UserEffects(context, this.users), this.views);
		this.userUpdates = new UserUpdates(context, this.users, this.views);
		this.listings = new Listings(context.commands, context.keys);
	}

	static async open(parts: RedisViewsParts): Promise<RedisViews> {
		return new RedisViews(contextOf(parts), await parts.source.starts());
	}

	/** Nothing to prepare: scripts report what they miss, and it is loaded then. */
	async prepare(): Promise<Release> {
		return () => undefined;
	}

	/** Queued without an await: later calls find these effects applied. */
	async apply<T>(effects: readonly Effect[], stored: number, onMoved: OnMoved<T>): Promise<T> {
		const byConversation = Map.groupBy(effects, ({ conversation }) => conversation.id);
		const facts = await Promise.all(
			[...byConversation].map(([id, some]) => this.queue.run(id, () => this.applier.apply(id, some, stored))),
		);
		return onMoved(facts.flat());
	}

	async read<T>(user: string, scope: Scope, use: (checked: ViewSnapshot) => T): Promise<T> {
		const { guard, overlapMicros, ttlSeconds, ledger } = this.context;
		const stamp = this.stamp();
		const leftSince = stamp - ttlSeconds * 1e6;
		const known = scope.includesLeft ? Math.max(await guard.completeSince(), leftSince) : 0;
		const time = { stamp, horizon: known - overlapMicros, leftSince };
		const result = await this.views.read(user, scope, time, use);
		// Returned once everything that it may show is durable.
		await ledger.flushed();
		return result;
	}

	change<D extends Decided, Problem extends string, T>(
		user: string,
		changing: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		return this.userUpdates.change(user, changing);
	}

	saveListing(user: string, number: number, ids: Ids): Promise<void> {
		return this.listings.save(user, number, ids);
	}

	savedListing(user: string, number: number): Promise<Ids | null> {
		return this.listings.saved(user, number);
	}

	/** Conversations of the user that have changed after this stamp. */
	changedSince(user: string, since: number): Promise<readonly string[]> {
		const time = { stamp: this.stamp(), horizon: 0, leftSince: since };
		return this.views.read(
			user,
			{ all: 'conversations', includesLeft: true },
			time,
			(views) => views.changedSince(since).conversations,
		);
	}

	/** Checks Redis, because the cached epoch of this process may be outdated. */
	async available(): Promise<void> {
		const now = performance.now();
		if (!this.checked || now - this.checked.at > AVAILABLE_MS)
			this.checked = { at: now, complete: this.context.guard.completeSince() };
		await this.checked.complete;
	}

	/** A client may lack changes before its position, by as much as clocks differ. */
	async since(_: string, position?: number): Promise<number> {
		return position === undefined ? this.stamp() : Math.max(0, position - this.context.overlapMicros);
	}

	/** The current time: other processes may be ahead while this one is idle. */
	private stamp(): number {
		return Math.max(this.context.clock.last(), this.context.nowMicros());
	}

	/**
	 * Redis may have changes that the store does not have yet, so state is reloaded only if the store has all of its changes: a
	 * conversation by its stamp, because it has one writer and is written in order; a user's state by the stamp of each membership and
	 * follow. Each script writes only if Redis is unchanged since it was read.
	 */
	async repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const ofUser = await repairUser(this.context, this.users, user, conversation);
		// Repairing the conversation makes all processes load it again, so attempts that cannot succeed must not do that.
		return ofUser === 'repaired' ? this.applier.repair(conversation) : ofUser;
	}
}
