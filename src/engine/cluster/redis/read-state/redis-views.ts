import type { Clock } from '../../../../model/ts.ts';
import type { MembershipView } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { Ledger, StateSource } from '../../../ports/store.ts';
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
import type { Commands } from '../connection.ts';
import { type Fence, NO_FENCE } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { ConversationCopies } from './conversation-copies.ts';
import { CopiedViews } from './copied-views.ts';
import { EffectApplier } from './effect-applier.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { UserCopies } from './user-copies.ts';
import { UserEffects } from './user-effects.ts';
import { UserUpdates } from './user-updates.ts';

/** Clients that reconnect at the same time share one check. */
const AVAILABLE_MS = 1_000;
/** State that did not change for this long expires in Redis: the store has it. */
const TTL_SECONDS = 24 * 60 * 60;
/** Lifetime of unread-first listings. */
const LIST_SECONDS = 15 * 60;
/** Memory for copies of conversations in this process, and the same for users. */
const VIEW_BYTES = 64 * 1024 * 1024;
const KEPT_CHANGES = 128;

/** How long and how often a repair is attempted. */
const REPAIR_MS = 5_000;
const REPAIR_RETRY_MS = 20;
const MAX_STORE_LAG_MS = 60 * 60 * 1000;

export interface RepairOptions {
	readonly patienceMs?: number;
	/** A change that the store lacks after this time is lost. Until then a gateway may hold it in memory, if it cannot append. */
	readonly mostStoreLagMs?: number;
}

export interface RedisViewsParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly source: StateSource;
	/** Makes marks durable. */
	readonly ledger: Ledger;
	readonly clock: Clock;
	readonly nowMicros: () => number;
	/** Detects that Redis was emptied, or restarted with old data. */
	readonly fence?: Fence;
	readonly ttlSeconds?: number;
	/** Maximum difference between the clocks of processes that assign stamps. */
	readonly overlapMicros?: number;
	/** How many changes of a conversation stay in Redis after the store has them, for copies that lack them. */
	readonly keptChanges?: number;
	readonly repairing?: RepairOptions;
	/** Maximum memory of the copies of conversations, and of those of users. */
	readonly viewBytes?: number;
}

/**
 * Views in Redis, shared by any number of processes. Redis has what changed lately, and the store has everything older.
 *
 * A conversation is in one slot and a user in another, so a change of both is made one after the other:
 * the conversation by its owner, the user by compare-and-set. Within a process, effects of one conversation are queued,
 * and so are changes of one user, so that each is made on the state after the one before.
 */
export class RedisViews implements Views {
	private readonly queue = new KeyedQueue();
	private readonly users: UserEffects;
	private readonly views: CopiedViews;
	private readonly applier: EffectApplier;
	private readonly userUpdates: UserUpdates;
	private readonly fence: Fence;
	private checked: { readonly at: number; readonly complete: Promise<unknown> } | undefined;

	private constructor(
		private readonly parts: RedisViewsParts,
		starts: readonly number[],
	) {
		const { commands, keys, source, ledger, clock, fence = NO_FENCE, ttlSeconds = TTL_SECONDS } = parts;
		const { viewBytes = VIEW_BYTES, keptChanges = KEPT_CHANGES } = parts;
		this.fence = fence;
		const copies = new UserCopies(commands, keys, source, ttlSeconds, starts, viewBytes);
		const conversations = new ConversationCopies(commands, keys, source, ttlSeconds, viewBytes);
		const views = new CopiedViews(copies, conversations, fence);
		const users = new UserEffects(commands, keys, source, copies, fence);
		this.users = users;
		this.views = views;
		this.applier = new EffectApplier({
			commands,
			keys,
			source,
			users,
			views,
			fence,
			ttlSeconds,
			keptChanges,
		});
		this.userUpdates = new UserUpdates(copies, views, ledger, clock, fence);
	}

	static async open(parts: RedisViewsParts): Promise<RedisViews> {
		return new RedisViews(parts, await parts.source.starts());
	}

	/** Nothing to prepare: scripts report what they miss, and it is loaded then. */
	async prepare(): Promise<Release> {
		return () => undefined;
	}

	/** Queued without an await: later calls find these effects applied. */
	async apply<T>(effects: readonly Effect[], onMoved: OnMoved<T>): Promise<T> {
		const byConversation = Map.groupBy(effects, ({ conversation }) => conversation.id);
		const facts = await Promise.all(
			[...byConversation].map(([id, some]) => this.queue.run(id, () => this.applier.apply(id, some))),
		);
		return onMoved(facts.flat());
	}

	written(conversation: string, stamp: number): void {
		this.applier.setWritten(conversation, stamp);
	}

	async read<T>(user: string, scope: Scope, use: (checked: ViewSnapshot) => T): Promise<T> {
		const { fence, parts } = this;
		const { overlapMicros = 0 } = parts;
		const stamp = this.stamp();
		const leftSince = stamp - (parts.ttlSeconds ?? TTL_SECONDS) * 1e6;
		const known = scope.includesLeft ? Math.max(await fence.completeSince(), leftSince) : 0;
		const horizon = known - overlapMicros;
		const result = await this.views.read(user, scope, { stamp, horizon, leftSince }, use);
		// Returned once everything that it may show is durable.
		await parts.ledger.flushed();
		return result;
	}

	change<D extends Decided, Problem extends string, T>(
		user: string,
		changing: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		return this.userUpdates.change(user, changing);
	}

	/** Redis removes an empty set, so '' is always a member. */
	async savedListing(user: string, number: number, ids?: Ids): Promise<Ids | null> {
		const { commands, keys } = this.parts;
		const key = keys.listing(user, number);
		if (ids) await commands.sadd(key, '', ...ids);
		// Each use of the listing extends its lifetime.
		const [members] = await Promise.all([commands.smembers(key), commands.expire(key, LIST_SECONDS)]);
		return members.length === 0 ? null : new Set(members);
	}

	/** Memberships that have changed lately; the store is current for the others. */
	async membershipsOf(
		conversation: string,
		users: readonly string[],
	): Promise<ReadonlyMap<string, MembershipView>> {
		const point = await this.fence.begin(users);
		const changed = await this.users.changedIn(conversation, users);
		await this.parts.ledger.flushed();
		await this.fence.verifyEpochs(point);
		return changed;
	}

	/** Conversations of the user that have changed after this stamp. */
	changedSince(user: string, since: number): Promise<readonly string[]> {
		const time = { stamp: this.stamp(), horizon: 0, leftSince: since };
		return this.views.read(
			user,
			{ all: 'heads', includesLeft: true },
			time,
			(views) => views.changedSince(since).conversations,
		);
	}

	/** Checks Redis, because the cached epoch of this process may be outdated. */
	async available(): Promise<void> {
		const now = performance.now();
		if (!this.checked || now - this.checked.at > AVAILABLE_MS)
			this.checked = { at: now, complete: this.fence.completeSince() };
		await this.checked.complete;
	}

	async position(): Promise<number> {
		return this.stamp();
	}

	/** A client may lack changes before its position, by as much as clocks differ. */
	sinceOf(position: number): number {
		return Math.max(0, position - (this.parts.overlapMicros ?? 0));
	}

	/** The current time: other processes may be ahead while this one is idle. */
	private stamp(): number {
		return Math.max(this.parts.clock.last(), this.parts.nowMicros());
	}

	/**
	 * Redis may have changes that the store does not have yet, so state is reloaded only if the store has all of its changes: a
	 * conversation by its stamp, because it has one writer and is written in order; a user's state by the stamp of each membership and
	 * follow. Each script writes only if Redis is unchanged since it was read.
	 */
	async repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const { users, applier, parts } = this;
		const { mostStoreLagMs = MAX_STORE_LAG_MS } = parts.repairing ?? {};
		const ofUser = await this.repeatedly(() =>
			users.reload(user, conversation, parts.nowMicros() - mostStoreLagMs * 1000),
		);
		const ofConversation = await this.repeatedly(() => applier.repair(conversation));
		return ofUser === 'repaired' ? ofConversation : ofUser;
	}

	private async repeatedly(
		attempt: () => Promise<'repaired' | RepairProblem>,
	): Promise<'repaired' | RepairProblem> {
		const { nowMicros, repairing } = this.parts;
		const end = nowMicros() + (repairing?.patienceMs ?? REPAIR_MS) * 1000;
		for (;;) {
			const outcome = await attempt();
			if (outcome === 'repaired' || nowMicros() >= end) return outcome;
			await Bun.sleep(REPAIR_RETRY_MS);
		}
	}
}
