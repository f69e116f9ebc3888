import type { Clock } from '../../../../model/ts.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { Ledger, StateSource } from '../../../ports/store.ts';
import type {
	Changed,
	Changing,
	Decided,
	Ids,
	Keep,
	Release,
	RepairProblem,
	Scope,
	ViewSnapshot,
	Views,
} from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import { type Fence, NO_FENCE } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { ConversationViews } from '../views/conversation-views.ts';
import { Depths } from '../views/depths.ts';
import { CopiedViews } from '../views/views.ts';
import { Application } from './application.ts';
import { UserChanges } from './changing.ts';
import { type Keeping, Loading } from './loading.ts';
import type { StoredMembership } from './packing.ts';
import { Turns } from './turns.ts';
import { Users } from './users.ts';

/** Clients that come back all at once ask for one look together. */
const AVAILABLE_MS = 1_000;
/** What is not used for so long leaves Redis, and comes back from the store. */
const TTL_SECONDS = 24 * 60 * 60;
/** For how long the lists of an inbox are kept. */
const LIST_SECONDS = 15 * 60;
/** Copies of conversations, and as much again of users, in the memory of this process. */
const VIEW_BYTES = 64 * 1024 * 1024;

/** For how long a repair is attempted, and how often. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;
const LONGEST_WAY_MS = 60 * 60 * 1000;

export interface RepairPatience {
	readonly patienceMs?: number;
	/** No change is on its way to the store for longer: a gateway keeps what it cannot hand over in its memory. */
	readonly longestWayMs?: number;
}

export interface RedisViewsParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly source: StateSource;
	/** Where marks become durable. */
	readonly ledger: Ledger;
	readonly clock: Clock;
	readonly nowMicros: () => number;
	/** Guards against a Redis that was emptied, or has what it had some time ago. */
	readonly fence?: Fence;
	readonly ttlSeconds?: number;
	/** By how much clocks of processes that give stamps differ, at most. */
	readonly overlapMicros?: number;
	readonly keeping?: Keeping;
	readonly repairing?: RepairPatience;
	/** How much memory copies of conversations take at most, and those of users. */
	readonly viewBytes?: number;
}

/**
 * Views in Redis, shared by any number of processes.
 *
 * A conversation lies in one slot and a user in another, so what concerns both is changed one after the other:
 * the conversation by its owner, the user by compare-and-set. Within a process, effects of one conversation take
 * turns, and so do marks of one user in it, so that the order of their stamps is the order in which they took place. Marks
 * of different users do not wait for each other.
 */
export class RedisViews implements Views {
	private readonly turns = new Turns();
	private readonly users: Users;
	private readonly loading: Loading;
	private readonly views: CopiedViews;
	private readonly application: Application;
	private readonly changes: UserChanges;
	private readonly fence: Fence;
	private checked: { readonly at: number; readonly complete: Promise<unknown> } | undefined;

	private constructor(
		private readonly parts: RedisViewsParts,
		starts: readonly number[],
	) {
		const { commands, keys, source, ledger, clock, fence = NO_FENCE, ttlSeconds = TTL_SECONDS } = parts;
		const { viewBytes = VIEW_BYTES } = parts;
		this.fence = fence;
		this.users = new Users(commands, keys, source, ttlSeconds, fence, starts, viewBytes);
		this.loading = new Loading(commands, keys, source, ttlSeconds, fence, parts.keeping);
		const { users, loading } = this;
		this.views = new CopiedViews(
			users.copies,
			new ConversationViews(commands, keys, ttlSeconds, loading, viewBytes),
			new Depths(commands, keys, source, fence),
			fence,
		);
		this.application = new Application(commands, keys, loading, users, this.views, ttlSeconds, fence);
		this.changes = new UserChanges(users, this.views, ledger, clock, fence);
	}

	static async open(parts: RedisViewsParts): Promise<RedisViews> {
		return new RedisViews(parts, await parts.source.starts());
	}

	/** Scripts load what they miss. */
	async prepare(): Promise<Release> {
		return () => undefined;
	}

	/** Turns are taken at once: later calls find these effects applied. */
	async apply<T>(effects: readonly Effect[], keep: Keep<T>): Promise<T> {
		const byConversation = Map.groupBy(effects, ({ conversation }) => conversation.id);
		const facts = await Promise.all(
			[...byConversation].map(([id, some]) => this.turns.take(id, () => this.application.apply(id, some))),
		);
		return keep(facts.flat());
	}

	async written(conversation: string, stamp: number): Promise<void> {
		await this.loading.trim(conversation, stamp, this.parts.nowMicros());
	}

	async look<T>(user: string, scope: Scope, use: (checked: ViewSnapshot) => T): Promise<T> {
		const { fence, parts } = this;
		const { overlapMicros = 0 } = parts;
		const stamp = this.stamp();
		const leftSince = stamp - (parts.ttlSeconds ?? TTL_SECONDS) * 1e6;
		const known = scope.changes ? Math.max(await fence.completeSince(), leftSince) : 0;
		const horizon = known - overlapMicros;
		const result = await this.views.look(user, scope, { stamp, horizon, leftSince }, use);
		// Handed out when everything that it may show is on disk.
		await parts.ledger.settled();
		return result;
	}

	change<D extends Decided, Problem extends string, T>(
		user: string,
		changing: Changing<D, Problem, T>,
	): Promise<Changed<D, T> | Problem | null> {
		const { about } = changing;
		const alone = () => this.turns.take(`${user} ${about}`, () => this.changes.change(user, changing));
		return about === null ? alone() : this.turns.share(about, alone);
	}

	/** Redis forgets a set without members: so there is always one, which is no id. */
	async list(user: string, number: number, ids?: Ids): Promise<Ids | null> {
		const { commands, keys } = this.parts;
		const key = keys.listing(user, number);
		if (ids) await commands.sadd(key, '', ...ids);
		// One that somebody still goes through stays.
		const [kept] = await Promise.all([commands.smembers(key), commands.expire(key, LIST_SECONDS)]);
		return kept.length === 0 ? null : new Set(kept);
	}

	/** Where these users stand in a conversation: those whose state is loaded, the others are as the store says. */
	async membershipsOf(
		conversation: string,
		users: readonly string[],
	): Promise<ReadonlyMap<string, StoredMembership>> {
		const since = await this.fence.since(users);
		const loaded = await this.users.loadedIn(conversation, users);
		await this.parts.ledger.settled();
		await this.fence.assured(since);
		return loaded;
	}

	/** Looks itself: what this process remembers of the epoch may be that of before. */
	async available(): Promise<void> {
		const now = performance.now();
		if (!this.checked || now - this.checked.at > AVAILABLE_MS)
			this.checked = { at: now, complete: this.fence.completeSince() };
		await this.checked.complete;
	}

	async position(): Promise<number> {
		return this.stamp();
	}

	/** Changes that a client has not received may lie as far before its position as clocks differ. */
	sinceOf(position: number): number {
		return Math.max(0, position - (this.parts.overlapMicros ?? 0));
	}

	/** Now: others may have gone further while this process did nothing. */
	private stamp(): number {
		return Math.max(this.parts.clock.last(), this.parts.nowMicros());
	}

	/**
	 * Redis may have what the store does not have yet. Each is taken from the store where that has everything of it: a conversation by its
	 * stamp, because it has one writer and is written in order; a user's own state by the stamp of each membership and follow. Nothing
	 * is ever removed in between: a load that is under way finds it there, and overwrites nothing.
	 */
	async repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const { users, loading, parts } = this;
		const { longestWayMs = LONGEST_WAY_MS } = parts.repairing ?? {};
		const ofUser = await this.repeatedly(() =>
			users.reload(user, conversation, parts.nowMicros() - longestWayMs * 1000),
		);
		const ofConversation = await this.repeatedly(() => loading.reload(conversation));
		return ofUser === 'repaired' ? ofConversation : ofUser;
	}

	private async repeatedly<T>(attempt: () => Promise<T | 'repaired'>): Promise<T | 'repaired'> {
		const { nowMicros, repairing } = this.parts;
		const end = nowMicros() + (repairing?.patienceMs ?? PATIENCE_MS) * 1000;
		for (;;) {
			const outcome = await attempt();
			if (outcome === 'repaired' || nowMicros() >= end) return outcome;
			await Bun.sleep(PAUSE_MS);
		}
	}
}
