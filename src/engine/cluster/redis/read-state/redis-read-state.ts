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
import { Application } from './application.ts';
import { Authors } from './authors.ts';
import { Conversations } from './conversations.ts';
import { Inbox } from './inbox.ts';
import { type Keeping, Loading } from './loading.ts';
import { Marking } from './marking.ts';
import { Moments } from './moments.ts';
import type { Membership } from './packing.ts';
import { Reading, totalsOf } from './reading.ts';
import { Repair, type RepairPatience } from './repair.ts';
import { MOST_TRIES, memberView, type ReadUser, Rows, shown } from './rows.ts';
import { Turns } from './turns.ts';
import { ACTIVITY, followField, followIn, membershipField, membershipIn, stampIn } from './user-state.ts';
import { Users } from './users.ts';

/** Clients that come back all at once ask for one look together. */
const AVAILABLE_MS = 1_000;
/** What is not used for so long leaves Redis, and comes back from the store. */
const TTL_SECONDS = 24 * 60 * 60;

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
	private readonly conversations: Conversations;
	private readonly rows: Rows;
	private readonly application: Application;
	private readonly marking: Marking;
	private readonly reading: Reading;
	private readonly moments: Moments;
	private readonly inboxes: Inbox;
	private readonly fence: Fence;
	private looked: { readonly at: number; readonly whole: Promise<unknown> } | undefined;

	private constructor(
		private readonly parts: RedisReadStateParts,
		private readonly starts: readonly number[],
	) {
		const { commands, keys, source, ledger, clock, fence = NO_FENCE, ttlSeconds = TTL_SECONDS } = parts;
		this.fence = fence;
		this.users = new Users(commands, keys, source, ttlSeconds, fence);
		this.loading = new Loading(commands, keys, source, ttlSeconds, fence, parts.keeping);
		this.conversations = new Conversations(commands, keys, source, ttlSeconds, fence, this.loading);
		this.rows = new Rows(this.conversations);
		const { users, conversations } = this;
		const authors = new Authors(conversations, users);
		this.application = new Application(commands, keys, this.loading, users, authors, ttlSeconds, fence);
		this.marking = new Marking(users, conversations, this.rows, ledger, clock, starts, fence);
		this.reading = new Reading(this.conversations, this.rows);
		this.inboxes = new Inbox(commands, keys, this.reading, this.rows);
		this.moments = new Moments(this.reading, this.rows, fence, ttlSeconds * 1e6);
	}

	static async open(parts: RedisReadStateParts): Promise<RedisReadState> {
		return new RedisReadState(parts, await parts.source.starts());
	}

	/** Scripts load what they miss. Loading before the decision keeps the time between stamp and effect short. */
	async prepare({ conversation }: Command): Promise<void> {
		await this.conversations.standing(conversation);
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
		const [fields, standing] = await Promise.all([
			this.users.some(user, [membershipField(conversation)]),
			this.conversations.standing(conversation),
		]);
		const membership = membershipIn(fields, conversation);
		if (!standing || !membership?.member) return null;
		return this.durably(memberView(conversation, membership, standing));
	}

	async memberships(user: string): Promise<readonly MemberView[]> {
		return this.durably(await this.reading.views(await this.read(user)));
	}

	async row(user: string, conversation: string): Promise<CountRow | null> {
		const row = await this.rows.atOnce(conversation, () => this.read(user, [membershipField(conversation)]));
		return this.durably(row && shown(row));
	}

	async counts(user: string): Promise<UserCounts> {
		const stamp = this.stamp();
		const [rows, threadRows] = await this.atOnce(user, (reader) =>
			Promise.all([this.reading.countRows(reader), this.reading.threadRows(reader)]),
		);
		const threads = totalsOf(threadRows);
		const badge = rows.reduce((sum, row) => sum + row.badge, threads.badge);
		return this.durably({ rows, threads, badge, stamp });
	}

	async threadTotals(user: string): Promise<{ threads: ThreadTotals; stamp: number }> {
		const stamp = this.stamp();
		return this.durably({ threads: totalsOf(await this.threads(user)), stamp });
	}

	async unread(user: string, conversation?: string): Promise<readonly UnreadItem[]> {
		if (conversation === undefined)
			return this.durably(await this.reading.unreadEverywhere(await this.read(user)));
		const reader = await this.read(user, [membershipField(conversation)]);
		const membership = membershipIn(reader.fields, conversation);
		if (!membership?.member) return [];
		return this.durably(await this.reading.unreadIn(reader, conversation, membership));
	}

	async countsInto(user: string, sink: CountSink): Promise<CountTotals> {
		const { rows, ...totals } = await this.counts(user);
		sink.begin(rows.length);
		for (const row of rows) sink.row(row);
		return totals;
	}

	async inbox(user: string, query: InboxQuery): Promise<InboxPage | 'no_such_listing'> {
		const now = this.stamp();
		return this.durably(await this.inboxes.page(await this.read(user), query, now));
	}

	async threads(user: string): Promise<readonly ThreadRow[]> {
		return this.durably(await this.reading.threadRows(await this.read(user)));
	}

	async thread(user: string, conversation: string, threadTs: number): Promise<ThreadRow | null> {
		const reader = await this.read(user, [followField(conversation, threadTs)]);
		const follow = followIn(reader.fields, conversation, threadTs);
		const row = follow ? await this.rows.threadRow(reader, conversation, threadTs, follow) : null;
		return this.durably(row && shown(row));
	}

	async moment(user: string, query: MomentQuery): Promise<Moment> {
		const now = this.stamp();
		return this.durably(await this.atOnce(user, (reader) => this.moments.of(reader, query, now)));
	}

	/** Where these users stand in a conversation: those whose state is loaded, the others are as the store says. */
	async standing(conversation: string, users: readonly string[]): Promise<ReadonlyMap<string, Membership>> {
		return this.durably(await this.users.loadedIn(conversation, users));
	}

	/** Nothing of the user changed while it was being worked with: see Rows.atOnce. */
	private async atOnce<T>(user: string, work: (reader: ReadUser) => Promise<T>): Promise<T> {
		for (let tries = 1; ; tries += 1) {
			const reader = await this.read(user);
			const result = await work(reader);
			if (tries === MOST_TRIES || stampIn(await this.users.some(user, [])) === stampIn(reader.fields))
				return result;
		}
	}

	/** Looks itself: what this process remembers of the epoch may be that of before. */
	async available(): Promise<void> {
		const now = performance.now();
		if (!this.looked || now - this.looked.at > AVAILABLE_MS)
			this.looked = { at: now, whole: this.fence.wholeSince() };
		await this.looked.whole;
	}

	/** Now: others may have gone further while this process did nothing. */
	stamp(): number {
		return Math.max(this.parts.clock.last(), this.parts.nowMicros());
	}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const { users, parts } = this;
		const { fence = NO_FENCE, ttlSeconds = TTL_SECONDS, repairing: patience } = parts;
		return new Repair({ ...parts, users, fence, ttlSeconds, patience }).at(user, conversation);
	}

	/** All of the user's state, or what counting in these fields needs. */
	private async read(id: string, names?: readonly string[]): Promise<ReadUser> {
		const fields = names ? await this.users.some(id, [...names, ACTIVITY]) : await this.users.all(id);
		return { id, fields, starts: this.starts };
	}

	/** Hands out an answer when everything it may show is on disk, and not what Redis had some time ago. */
	private async durably<T>(answer: T): Promise<T> {
		await this.parts.ledger.settled();
		await this.fence.assured();
		return answer;
	}
}
