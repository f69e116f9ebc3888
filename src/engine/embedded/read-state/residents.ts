import { threadKey } from '../../../model/ids.ts';
import { nextTurn } from '../../../model/next-turn.ts';
import { Numbering } from '../../../model/numbering.ts';
import { type Entry, flagsOf, Timeline } from '../../../model/timeline.ts';
import { NOTHING_AHEAD } from '../../../model/views.ts';
import type { ConversationBrief, EntryRow, Ledger, StateSource, UserReadState } from '../../ports/store.ts';
import type { Release } from '../../ports/views.ts';
import { TimelineLoader } from '../../read-state/timeline-loader.ts';
import { Journal } from './journal.ts';
import { LoadedConversation, LoadedUser } from './loaded.ts';

/**
 * Loads conversations and users into memory on first use, and evicts those that were not used for long.
 *
 * The store lags behind memory by the commits in flight. So a load could miss a change that was applied
 * while its subject was not in memory: `unloadedChanges` has the stamps of such changes, and a load waits until
 * the ledger has them, and starts over if its subject changes again during the load.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Replies per read when a thread is loaded in steps. */
const REPLIES_PER_STEP = 1024;
/** A thread that changes during this many stepped loads is loaded with one read. */
const STEPPED_ATTEMPTS = 3;

export class Residents {
	readonly users = new Numbering();
	readonly conversations = new Numbering();
	/** Changed conversations. */
	readonly journal = new Journal();
	readonly timelines: TimelineLoader<LoadedConversation>;
	/** By number: counting visits all conversations of a user, up to a hundred thousand. */
	private readonly loadedConversations: (LoadedConversation | undefined)[] = [];
	private readonly loadedUsers = new Map<string, LoadedUser>();
	private readonly loadingUsers = new Map<string, Promise<LoadedUser>>();
	private readonly unloadedChanges = new Map<string, number>();
	/** Keys being loaded: their entries in `unloadedChanges` must be kept. */
	private readonly loading = new Set<string>();
	/** By id: number of commands that were prepared and are not applied yet. */
	private readonly kept = new Map<string, number>();
	private starts: readonly number[] = [];
	/** Rises when conversations are evicted or unarchived: readers check again whether everything they need is loaded. */
	disruptions = 0;

	constructor(
		readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly nowMs: () => number,
	) {
		this.timelines = new TimelineLoader({
			source,
			reading: async (conversations, read) => {
				const durable = ledger.durable();
				if (conversations.some(({ changedBelowFloor }) => changedBelowFloor > durable))
					await ledger.flushed();
				return read();
			},
			add: ({ timeline }, rows, reached) =>
				timeline.prepend(
					rows.map((row) => this.entryOf(row)),
					reached,
				),
		});
	}

	async open(): Promise<void> {
		this.starts = await this.source.starts();
	}

	/** The user if in memory, without marking it as used. */
	peekUser(id: string): LoadedUser | undefined {
		return this.loadedUsers.get(id);
	}

	peekConversation(number: number): LoadedConversation | undefined {
		return this.loadedConversations[number];
	}

	/** The conversation if in memory; marks it as used. */
	find(id: string): LoadedConversation | undefined {
		const number = this.conversations.peek(id);
		const conversation = number === undefined ? undefined : this.loadedConversations[number];
		if (conversation) conversation.usedAt = this.nowMs();
		return conversation;
	}

	/** Protects these conversations and users from eviction until the returned function is called, or a commit fails. */
	keepLoaded(ids: readonly string[]): Release {
		for (const id of ids) this.kept.set(id, (this.kept.get(id) ?? 0) + 1);
		let isKept = true;
		return () => {
			if (!isKept) return;
			isKept = false;
			for (const id of ids) {
				const others = (this.kept.get(id) ?? 0) - 1;
				if (others > 0) this.kept.set(id, others);
				else this.kept.delete(id);
			}
		};
	}

	/** Records a change of something that is not in memory. */
	noteUnloadedChange(key: string, at: number): void {
		this.unloadedChanges.set(key, at);
	}

	/** The user if in memory; marks it as used. */
	findUser(id: string): LoadedUser | undefined {
		const user = this.loadedUsers.get(id);
		if (user) user.usedAt = this.nowMs();
		return user;
	}

	async user(id: string): Promise<LoadedUser> {
		const loaded = this.findUser(id);
		if (loaded) return loaded;
		const inProgress = this.loadingUsers.get(id);
		if (inProgress) return inProgress;
		const loading = this.loadUser(id).finally(() => this.loadingUsers.delete(id));
		this.loadingUsers.set(id, loading);
		return loading;
	}

	private async loadUser(id: string): Promise<LoadedUser> {
		const user = this.userOf(id, await this.loadConsistently(id, () => this.source.user(id)));
		this.loadedUsers.set(id, user);
		return user;
	}

	/** Replaces a user in memory with the state in the store. Resolves to false if the user changed in the meantime. */
	async reloadUser(id: string): Promise<boolean> {
		const user = this.loadedUsers.get(id);
		if (!user) return true;
		const { newestChange } = user;
		await this.ledger.flushed();
		const stored = this.userOf(id, await this.source.user(id));
		if (this.loadedUsers.get(id) !== user || user.newestChange !== newestChange) return false;
		// The stamp must not fall behind counts that were already returned.
		stored.stamp = Math.max(stored.stamp, user.stamp);
		this.loadedUsers.set(id, stored);
		return true;
	}

	private userOf(id: string, rows: UserReadState): LoadedUser {
		const { conversations, starts } = this;
		const user = new LoadedUser(this.users.of(id), id, starts, rows.memberships.length, conversations);
		user.stamp = rows.stamp;
		user.usedAt = this.nowMs();
		const aheadOf = Map.groupBy(rows.ahead, ({ conversation }) => conversation);
		for (const row of rows.memberships) {
			const ahead = aheadOf.get(row.conversation);
			const readAhead = ahead ? new Set(ahead.map(({ ts }) => ts)) : NOTHING_AHEAD;
			user.setMembership(conversations.of(row.conversation), { ...row, ahead: readAhead });
		}
		for (const { conversation, threadTs, cursor, since } of rows.follows)
			user.setFollow(conversations.of(conversation), threadTs, { cursor, since });
		for (const { at, active } of rows.activity) user.activity.add(at, active);
		return user;
	}

	/** Waits until the store has every change of `key`, then loads; starts over if `key` changes during the load. */
	private async loadConsistently<T>(key: string, load: (attempt: number) => Promise<T>): Promise<T> {
		this.loading.add(key);
		try {
			for (let attempt = 0; ; attempt += 1) {
				const unloadedChange = this.unloadedChanges.get(key) ?? 0;
				if (unloadedChange > this.ledger.durable()) await this.ledger.flushed();
				const loaded = await load(attempt);
				if ((this.unloadedChanges.get(key) ?? 0) === unloadedChange) {
					this.unloadedChanges.delete(key);
					return loaded;
				}
			}
		} finally {
			this.loading.delete(key);
		}
	}

	async conversation(id: string): Promise<LoadedConversation | undefined> {
		const number = this.conversations.peek(id);
		// Only existing conversations get a number, because anybody can ask for any id.
		if (number === undefined) this.addBriefs(await this.source.briefs([id]));
		const known = number ?? this.conversations.peek(id);
		return known === undefined ? undefined : (await this.conversationsOf([known]))[0];
	}

	private addBriefs(briefs: readonly ConversationBrief[]): void {
		for (const brief of briefs) {
			const number = this.conversations.of(brief.id);
			if (this.loadedConversations[number]) continue;
			this.add(new LoadedConversation(number, brief.id, brief.kind, brief));
		}
	}

	/** Those of these conversations that exist, loaded with one query. */
	async conversationsOf(numbers: readonly number[]): Promise<LoadedConversation[]> {
		const missing = numbers.filter((number) => !this.loadedConversations[number]);
		if (missing.length > 0) {
			const ids = missing.map((number) => this.conversations.id(number));
			this.addBriefs(await this.source.briefs(ids));
		}
		const now = this.nowMs();
		const found: LoadedConversation[] = [];
		for (const number of numbers) {
			const conversation = this.loadedConversations[number];
			if (!conversation) continue;
			conversation.usedAt = now;
			found.push(conversation);
		}
		return found;
	}

	/** Whether every conversation of the user is in memory. */
	isComplete(user: LoadedUser): boolean {
		return user.completeAt === this.disruptions;
	}

	async complete(user: LoadedUser): Promise<void> {
		const { disruptions } = this;
		await this.conversationsOf(conversationsOf(user));
		user.completeAt = disruptions;
	}

	add(conversation: LoadedConversation): void {
		conversation.usedAt = this.nowMs();
		const { loadedConversations } = this;
		// No holes: they would make it a slower kind of array.
		while (loadedConversations.length <= conversation.number) loadedConversations.push(undefined);
		loadedConversations[conversation.number] = conversation;
	}

	/** All replies of a thread. */
	async thread(conversation: LoadedConversation, threadTs: number): Promise<Timeline> {
		const loaded = conversation.threads.get(threadTs);
		if (loaded) return loaded;
		const rows = await this.loadConsistently(threadKey(conversation.id, threadTs), (attempt) =>
			this.replies(conversation.id, threadTs, attempt < STEPPED_ATTEMPTS ? REPLIES_PER_STEP : EVERYTHING),
		);
		const loadedMeanwhile = conversation.threads.get(threadTs);
		if (loadedMeanwhile) return loadedMeanwhile;
		const timeline = new Timeline(0);
		timeline.prepend(
			rows.map((row) => this.entryOf(row)),
			0,
		);
		conversation.keepThread(threadTs, timeline);
		return timeline;
	}

	/** Reads newest first, `step` per read, and yields in between. */
	private async replies(conversation: string, threadTs: number, step: number): Promise<EntryRow[]> {
		const pieces: (readonly EntryRow[])[] = [];
		for (let upTo = EVERYTHING; ; ) {
			const rows = await this.source.threadEntries(conversation, threadTs, upTo, step);
			pieces.unshift(rows);
			if (rows.length < step) return pieces.flat();
			upTo = (rows[0] as EntryRow).ts - 1;
			await nextTurn();
		}
	}

	entryOf(row: EntryRow): Entry {
		const named = row.named.map((user) => this.users.of(user));
		return { ts: row.ts, author: this.users.of(row.user), flags: flagsOf(row), named };
	}

	/**
	 * Evicts conversations and users not used since `before` (ms), unless one of their changes is still being committed: an invite
	 * changes an idle user, and a load from the store would miss it.
	 */
	evict(before: number): void {
		const durable = this.ledger.durable();
		for (const [number, conversation] of this.loadedConversations.entries()) {
			if (!conversation || conversation.usedAt >= before || conversation.stamp > durable) continue;
			if (this.kept.has(conversation.id)) continue;
			this.loadedConversations[number] = undefined;
			conversation.evicted = true;
			this.disruptions += 1;
		}
		for (const [id, user] of this.loadedUsers)
			if (user.usedAt < before && user.newestChange <= durable && !this.kept.has(id))
				this.loadedUsers.delete(id);
		for (const [key, at] of this.unloadedChanges)
			if (at <= durable && !this.loading.has(key)) this.unloadedChanges.delete(key);
	}

	/** Drops everything: applied changes could not be persisted, so memory is ahead of the store. */
	clear(): void {
		for (const conversation of this.loadedConversations) if (conversation) conversation.evicted = true;
		this.loadedConversations.length = 0;
		this.disruptions += 1;
		this.loadedUsers.clear();
		this.unloadedChanges.clear();
	}
}

/** Numbers of the user's conversations. */
function conversationsOf({ memberships }: LoadedUser): number[] {
	const numbers: number[] = [];
	for (let index = 0; index < memberships.size; index += 1)
		if (memberships.isMemberAt(index)) numbers.push(memberships.conversationAt(index));
	return numbers;
}
