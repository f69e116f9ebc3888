import type { Mark } from '../../../../model/cursor.ts';
import type { Clock } from '../../../../model/ts.ts';
import type { Command } from '../../../../sequencer/commands.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { NotificationLevel, ReadFact } from '../../../ports/facts.ts';
import type {
	CountRow,
	CountSink,
	CountTotals,
	InboxPage,
	InboxQuery,
	MarkProblem,
	MemberView,
	Moment,
	MomentQuery,
	ReadState,
	RepairProblem,
	RowChange,
	Tell,
	ThreadChange,
	ThreadRow,
	ThreadTotals,
	UnreadItem,
	UserCounts,
} from '../../../ports/read-state.ts';
import type { Ledger, StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import { type Fence, NO_FENCE } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { ConversationViews, NO_THREADS } from '../views/conversation-views.ts';
import { Depths } from '../views/depths.ts';
import { Views } from '../views/views.ts';
import { Application } from './application.ts';
import { Authors } from './authors.ts';
import { Inbox } from './inbox.ts';
import { type Keeping, Loading } from './loading.ts';
import { Marking } from './marking.ts';
import { Moments } from './moments.ts';
import type { Membership } from './packing.ts';
import { Reading, totalsOf } from './reading.ts';
import { Repair, type RepairPatience } from './repair.ts';
import { Turns } from './turns.ts';
import { Users } from './users.ts';

/** Clients that come back all at once ask for one look together. */
const AVAILABLE_MS = 1_000;
/** What is not used for so long leaves Redis, and comes back from the store. */
const TTL_SECONDS = 24 * 60 * 60;
/** Copies of conversations, and as much again of users, in the memory of this process. */
const VIEW_BYTES = 64 * 1024 * 1024;

export interface RedisReadStateParts {
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
	readonly keeping?: Keeping;
	readonly repairing?: RepairPatience;
	/** How much memory copies of conversations take at most, and those of users. */
	readonly viewBytes?: number;
}

/**
 * Read state in Redis, shared by any number of processes.
 *
 * A conversation lies in one slot and a user in another, so what concerns both is changed one after the other:
 * the conversation by whoever owns it, the user by compare-and-set. Within a process, effects of one conversation take
 * turns, and so do marks of one user in it, so that the order of their stamps is the order in which they took place. Marks
 * of different users do not wait for each other.
 */
export class RedisReadState implements ReadState {
	private readonly turns = new Turns();
	private readonly turnsOfUsers = new Turns();
	private readonly users: Users;
	private readonly loading: Loading;
	private readonly views: Views;
	private readonly application: Application;
	private readonly marking: Marking;
	private readonly reading: Reading;
	private readonly moments: Moments;
	private readonly inboxes: Inbox;
	private readonly fence: Fence;
	private looked: { readonly at: number; readonly whole: Promise<unknown> } | undefined;

	private constructor(
		private readonly parts: RedisReadStateParts,
		starts: readonly number[],
	) {
		const { commands, keys, source, ledger, clock, fence = NO_FENCE, ttlSeconds = TTL_SECONDS } = parts;
		const { viewBytes = VIEW_BYTES } = parts;
		this.fence = fence;
		this.users = new Users(commands, keys, source, ttlSeconds, fence, starts, viewBytes);
		this.loading = new Loading(commands, keys, source, ttlSeconds, fence, parts.keeping);
		const { users, loading } = this;
		this.views = new Views(
			users.copies,
			new ConversationViews(commands, keys, ttlSeconds, loading, viewBytes),
			new Depths(commands, keys, source, fence, loading),
			fence,
		);
		const authors = new Authors(this.views, users);
		this.application = new Application(commands, keys, loading, users, authors, ttlSeconds, fence);
		this.marking = new Marking(users, this.views, ledger, clock, fence);
		this.reading = new Reading(this.views);
		this.inboxes = new Inbox(commands, keys, this.views);
		this.moments = new Moments(this.views, fence, ttlSeconds * 1e6);
	}

	static async open(parts: RedisReadStateParts): Promise<RedisReadState> {
		return new RedisReadState(parts, await parts.source.starts());
	}

	/** Scripts load what they miss. Loading before the decision keeps the time between stamp and effect short. */
	async prepare({ conversation }: Command): Promise<void> {
		await this.views.conversation({ id: conversation, back: null, threads: NO_THREADS });
	}

	/** Turns are taken at once: whoever comes later finds these effects applied. */
	async apply(effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const byConversation = Map.groupBy(effects, ({ conversation }) => conversation.id);
		const facts = await Promise.all(
			[...byConversation].map(([id, some]) => this.turns.take(id, () => this.applyTo(id, some))),
		);
		return facts.flat();
	}

	private async applyTo(conversation: string, effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const since = await this.fence.since();
		const facts = await this.application.apply(conversation, effects);
		await this.fence.assured(since);
		return facts;
	}

	async written(conversation: string, stamp: number): Promise<void> {
		await this.loading.trim(conversation, stamp, this.parts.nowMicros());
	}

	mark(
		user: string,
		conversation: string,
		mark: Mark,
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		return this.inTurn(user, conversation, () => this.marking.mark(user, conversation, mark, tell));
	}

	markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: { readonly type: 'read' | 'unread'; readonly ts: number },
		tell: Tell<ThreadRow>,
	): Promise<ThreadChange | MarkProblem> {
		return this.inTurn(user, conversation, () =>
			this.marking.markThread(user, conversation, threadTs, mark, tell),
		);
	}

	setPreference(
		user: string,
		conversation: string,
		preference: { readonly muted?: boolean; readonly level?: NotificationLevel },
		tell: Tell<CountRow>,
	): Promise<RowChange | MarkProblem> {
		return this.inTurn(user, conversation, () =>
			this.marking.setPreference(user, conversation, preference, tell),
		);
	}

	setActive(user: string, active: boolean): Promise<void> {
		return this.turnsOfUsers.take(user, () => this.marking.setActive(user, active));
	}

	private inTurn<T>(user: string, conversation: string, work: () => Promise<T>): Promise<T> {
		const alone = () => this.turnsOfUsers.take(`${user} ${conversation}`, work);
		return this.turns.share(conversation, alone);
	}

	async member(user: string, conversation: string): Promise<MemberView | null> {
		return this.durably(await this.reading.member(user, conversation));
	}

	async memberships(user: string): Promise<readonly MemberView[]> {
		return this.durably(await this.reading.memberships(user));
	}

	async row(user: string, conversation: string): Promise<CountRow | null> {
		return this.durably(await this.reading.row(user, conversation));
	}

	async counts(user: string): Promise<UserCounts> {
		const stamp = this.stamp();
		return this.durably({ ...(await this.reading.counts(user)), stamp });
	}

	async threadTotals(user: string): Promise<{ threads: ThreadTotals; stamp: number }> {
		const stamp = this.stamp();
		return { threads: totalsOf(await this.threads(user)), stamp };
	}

	async unread(user: string, conversation?: string): Promise<readonly UnreadItem[]> {
		return this.durably(await this.reading.unread(user, conversation));
	}

	async countsInto(user: string, sink: CountSink): Promise<CountTotals> {
		const { rows, ...totals } = await this.counts(user);
		sink.begin(rows.length);
		for (const row of rows) sink.row(row);
		return totals;
	}

	async inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		const now = this.stamp();
		return this.durably(await this.inboxes.page(user, query, now));
	}

	async threads(user: string): Promise<readonly ThreadRow[]> {
		return this.durably(await this.reading.threads(user));
	}

	async thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		return this.durably(await this.reading.thread(user, conversation, threadTs));
	}

	async moment(user: string, query: MomentQuery): Promise<Moment> {
		const now = this.stamp();
		return this.durably(await this.moments.of(user, query, now));
	}

	/** Where these users stand in a conversation: those whose state is loaded, the others are as the store says. */
	async standing(conversation: string, users: readonly string[]): Promise<ReadonlyMap<string, Membership>> {
		return this.durably(await this.users.loadedIn(conversation, users));
	}

	/** Looks itself: what this process remembers of the epoch may be that of before. */
	async available(): Promise<void> {
		const now = performance.now();
		if (!this.looked || now - this.looked.at > AVAILABLE_MS)
			this.looked = { at: now, whole: this.fence.wholeSince() };
		await this.looked.whole;
	}

	async stampOf(): Promise<number> {
		return this.stamp();
	}

	/** Now: others may have gone further while this process did nothing. */
	private stamp(): number {
		return Math.max(this.parts.clock.last(), this.parts.nowMicros());
	}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const { users, parts } = this;
		const { fence = NO_FENCE, ttlSeconds = TTL_SECONDS, repairing: patience } = parts;
		return new Repair({ ...parts, users, fence, ttlSeconds, patience }).at(user, conversation);
	}

	/** Hands out an answer when everything it may show is on disk, and not what Redis had some time ago. */
	private async durably<T>(answer: T): Promise<T> {
		await this.parts.ledger.settled();
		await this.fence.assured();
		return answer;
	}
}
