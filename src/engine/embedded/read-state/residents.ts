import { BROADCAST, CHANNEL_WIDE, type Entry, HERE, NAMES, Timeline } from '../../../model/timeline.ts';
import type { ConversationBrief, EntryRow, Ledger, StateSource } from '../../ports/store.ts';
import { LoadedConversation, LoadedUser } from './loaded.ts';
import { Numbering } from './numbering.ts';
import { Recency } from './recency.ts';

/**
 * Brings conversations and users into memory on first use and lets go of those not used for long.
 *
 * The store trails memory by the commits under way. So a load must not run past a change that was applied
 * while its subject was not in memory: such changes leave their stamp in `passedBy`, and a load waits until
 * the ledger has them, and starts over when another one came in between.
 */

/** Lets other work have its turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const FIRST_CHUNK = 128;
const LARGEST_CHUNK = 16_384;

export class Residents {
	readonly users = new Numbering();
	readonly conversations = new Numbering();
	readonly recency = new Recency();
	private readonly loadedConversations = new Map<number, LoadedConversation>();
	private readonly loadedUsers = new Map<string, LoadedUser>();
	private readonly loadingUsers = new Map<string, Promise<LoadedUser>>();
	private readonly passedBy = new Map<string, number>();
	/** What is being loaded now: what passes it by must not be forgotten meanwhile. */
	private readonly loading = new Set<string>();
	private starts: readonly number[] = [];
	/** How often conversations were let go. */
	private evictions = 0;

	constructor(
		private readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly nowMs: () => number,
	) {}

	async open(): Promise<void> {
		this.starts = await this.source.starts();
	}

	/** The user if in memory. */
	peekUser(id: string): LoadedUser | undefined {
		return this.loadedUsers.get(id);
	}

	peekConversation(number: number): LoadedConversation | undefined {
		return this.loadedConversations.get(number);
	}

	/** A change of something that is not in memory went by. */
	passBy(key: string, at: number): void {
		this.passedBy.set(key, at);
	}

	async user(id: string): Promise<LoadedUser> {
		const loaded = this.loadedUsers.get(id);
		if (loaded) {
			loaded.usedAt = this.nowMs();
			return loaded;
		}
		const underWay = this.loadingUsers.get(id);
		if (underWay) return underWay;
		const loading = this.loadUser(id).finally(() => this.loadingUsers.delete(id));
		this.loadingUsers.set(id, loading);
		return loading;
	}

	private async loadUser(id: string): Promise<LoadedUser> {
		const rows = await this.consistently(id, () => this.source.user(id));
		const user = new LoadedUser(this.users.of(id), id, this.starts, rows.memberships.length);
		user.stamp = rows.stamp;
		user.usedAt = this.nowMs();
		for (const row of rows.memberships) user.memberships.set(this.conversations.of(row.conversation), row);
		for (const [conversation, entries] of Map.groupBy(rows.ahead, (entry) => entry.conversation))
			user.ahead.set(this.conversations.of(conversation), new Set(entries.map(({ ts }) => ts)));
		for (const { conversation, threadTs, cursor, since } of rows.follows)
			user.follow(this.conversations.of(conversation), threadTs, { cursor, since });
		for (const { at, active } of rows.activity) user.activity.add(at, active);
		this.loadedUsers.set(id, user);
		return user;
	}

	/** Loads with nothing about `key` under way that the store does not have yet. */
	private async consistently<T>(key: string, load: () => Promise<T>): Promise<T> {
		this.loading.add(key);
		try {
			for (;;) {
				const passed = this.passedBy.get(key) ?? 0;
				if (passed > this.ledger.durable()) await this.ledger.settled();
				const loaded = await load();
				if ((this.passedBy.get(key) ?? 0) === passed) {
					this.passedBy.delete(key);
					return loaded;
				}
			}
		} finally {
			this.loading.delete(key);
		}
	}

	async conversation(id: string): Promise<LoadedConversation | undefined> {
		const number = this.conversations.peek(id);
		// Only what exists gets a number: anybody can ask for anything.
		if (number === undefined) this.bringIn(await this.source.briefs([id]));
		const known = number ?? this.conversations.peek(id);
		return known === undefined ? undefined : (await this.conversationsOf([known]))[0];
	}

	private bringIn(briefs: readonly ConversationBrief[]): void {
		for (const brief of briefs) {
			const number = this.conversations.of(brief.id);
			if (this.loadedConversations.has(number)) continue;
			this.add(new LoadedConversation(number, brief.id, brief.kind, brief));
		}
	}

	/** Those of these that exist, loaded together. */
	async conversationsOf(numbers: readonly number[]): Promise<LoadedConversation[]> {
		const missing = numbers.filter((number) => !this.loadedConversations.has(number));
		if (missing.length > 0) {
			const ids = missing.map((number) => this.conversations.id(number));
			this.bringIn(await this.source.briefs(ids));
		}
		const now = this.nowMs();
		const found: LoadedConversation[] = [];
		for (const number of numbers) {
			const conversation = this.loadedConversations.get(number);
			if (!conversation) continue;
			conversation.usedAt = now;
			found.push(conversation);
		}
		return found;
	}

	/** Has every conversation of the user in memory; looks for those missing only when some were let go. */
	async complete(user: LoadedUser): Promise<void> {
		if (user.completeAt === this.evictions) return;
		const { evictions } = this;
		await this.conversationsOf(conversationsOf(user));
		user.completeAt = evictions;
	}

	add(conversation: LoadedConversation): void {
		conversation.usedAt = this.nowMs();
		this.loadedConversations.set(conversation.number, conversation);
		this.recency.add(conversation);
	}

	/** Loads timeline entries after this ts: counts from there on need nothing else. */
	async deepen(conversation: LoadedConversation, ts: number): Promise<void> {
		const { timeline } = conversation;
		for (let chunk = FIRST_CHUNK; ts < timeline.floor; chunk = Math.min(chunk * 4, LARGEST_CHUNK)) {
			await this.deepenOnce(conversation, ts, chunk);
			// A long way back is gone in steps, with the others' turns in between.
			if (chunk > FIRST_CHUNK) await nextTurn();
		}
	}

	/** One step towards this ts. */
	async deepenOneStep(conversation: LoadedConversation, ts: number): Promise<void> {
		await this.deepenOnce(conversation, ts, FIRST_CHUNK);
	}

	/** Has the entry before the newest at hand, so that `latest` stays known when the newest is deleted. */
	async deepenPastNewest(conversation: LoadedConversation): Promise<void> {
		const { timeline } = conversation;
		while (timeline.size < 2 && timeline.floor > 0) await this.deepenOnce(conversation, 0, FIRST_CHUNK);
	}

	/** One piece further back, at most to `after`. */
	private async deepenOnce(conversation: LoadedConversation, after: number, chunk: number): Promise<void> {
		const { timeline, changedBelowFloor } = conversation;
		if (changedBelowFloor > this.ledger.durable()) await this.ledger.settled();
		const { floor } = timeline;
		const rows = await this.source.timelineEntries(conversation.id, after, floor, chunk);
		// Somebody else loaded the same piece, or changed something in it: what was read may be old.
		if (timeline.floor !== floor || conversation.changedBelowFloor !== changedBelowFloor) return;
		const reached = rows.length < chunk ? after : rows[0]!.ts - 1;
		timeline.prepend(
			rows.map((row) => this.entryOf(row)),
			reached,
		);
	}

	/** A thread's replies, all of them. */
	async thread(conversation: LoadedConversation, threadTs: number): Promise<Timeline> {
		const loaded = conversation.threads.get(threadTs);
		if (loaded) return loaded;
		const rows = await this.consistently(threadKey(conversation.id, threadTs), () =>
			this.source.threadEntries(conversation.id, threadTs, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
		);
		const meanwhile = conversation.threads.get(threadTs);
		if (meanwhile) return meanwhile;
		const timeline = new Timeline(0);
		timeline.prepend(
			rows.map((row) => this.entryOf(row)),
			0,
		);
		conversation.threads.set(threadTs, timeline);
		return timeline;
	}

	entryOf(row: EntryRow): Entry {
		const named = row.named.map((user) => this.users.of(user));
		const flags =
			(row.channelWide ? CHANNEL_WIDE : 0) |
			(row.here ? HERE : 0) |
			(named.length > 0 ? NAMES : 0) |
			(row.broadcast ? BROADCAST : 0);
		return { ts: row.ts, author: this.users.of(row.user), flags, named };
	}

	/** Lets go of what was not used since `before` (ms). Nothing of it can still be under way to the store. */
	evict(before: number): void {
		for (const [number, conversation] of this.loadedConversations) {
			if (conversation.usedAt >= before) continue;
			this.loadedConversations.delete(number);
			conversation.evicted = true;
			this.recency.removed();
			this.evictions += 1;
		}
		for (const [id, user] of this.loadedUsers) if (user.usedAt < before) this.loadedUsers.delete(id);
		const durable = this.ledger.durable();
		for (const [key, at] of this.passedBy)
			if (at <= durable && !this.loading.has(key)) this.passedBy.delete(key);
	}

	/** Forgets everything: what was applied could not be stored, so memory is ahead of the truth. */
	clear(): void {
		for (const conversation of this.loadedConversations.values()) conversation.evicted = true;
		this.loadedConversations.clear();
		this.recency.clear();
		this.evictions += 1;
		this.loadedUsers.clear();
		this.passedBy.clear();
	}
}

/** Numbers of what the user is in. */
function conversationsOf({ memberships }: LoadedUser): number[] {
	const numbers: number[] = [];
	for (let index = 0; index < memberships.size; index += 1)
		if (memberships.isMemberAt(index)) numbers.push(memberships.conversationAt(index));
	return numbers;
}

export const threadKey = (conversation: string, threadTs: number): string => `${conversation} ${threadTs}`;
