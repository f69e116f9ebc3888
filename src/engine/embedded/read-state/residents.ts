import { Numbering } from '../../../model/numbering.ts';
import { type Entry, flagsOf, Timeline } from '../../../model/timeline.ts';
import { NOTHING_AHEAD } from '../../../model/views.ts';
import type { ConversationBrief, EntryRow, Ledger, StateSource, UserReadState } from '../../ports/store.ts';
import type { Release } from '../../ports/views.ts';
import { Depths, nextTurn } from './depths.ts';
import { Journal } from './journal.ts';
import { LoadedConversation, LoadedUser } from './loaded.ts';

/**
 * Loads conversations and users into memory on first use, and evicts those not used for long.
 *
 * The store trails memory by the commits under way. So a load must not run past a change that was applied
 * while its subject was not in memory: such changes leave their stamp in `passedBy`, and a load waits until
 * the ledger has them, and starts over when another one came in between.
 */

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** Replies of a thread that are loaded in one turn. */
const REPLIES_A_TURN = 1024;
/** A thread that changes during so many loads in steps is loaded in one turn. */
const STEPPED_ATTEMPTS = 3;

export class Residents {
	readonly users = new Numbering();
	readonly conversations = new Numbering();
	/** Conversations that changed. */
	readonly journal = new Journal();
	readonly depths: Depths;
	/** By number: counting looks at all conversations of a user, a hundred thousand maybe. */
	private readonly loadedConversations: (LoadedConversation | undefined)[] = [];
	private readonly loadedUsers = new Map<string, LoadedUser>();
	private readonly loadingUsers = new Map<string, Promise<LoadedUser>>();
	private readonly passedBy = new Map<string, number>();
	/** What is being loaded now: what passes it by must not be forgotten meanwhile. */
	private readonly loading = new Set<string>();
	/** By id: how many commands need it between being prepared and being applied. */
	private readonly pins = new Map<string, number>();
	private starts: readonly number[] = [];
	/** How often conversations were evicted, or one came to count: users look again whether everything is loaded that they need. */
	disruptions = 0;

	constructor(
		readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly nowMs: () => number,
	) {
		this.depths = new Depths(source, ledger, (row) => this.entryOf(row));
	}

	async open(): Promise<void> {
		this.starts = await this.source.starts();
	}

	/** The user if in memory. */
	peekUser(id: string): LoadedUser | undefined {
		return this.loadedUsers.get(id);
	}

	peekConversation(number: number): LoadedConversation | undefined {
		return this.loadedConversations[number];
	}

	/** The conversation if in memory, which it stays for being used now. */
	find(id: string): LoadedConversation | undefined {
		const number = this.conversations.peek(id);
		const conversation = number === undefined ? undefined : this.loadedConversations[number];
		if (conversation) conversation.usedAt = this.nowMs();
		return conversation;
	}

	/** Conversations and users with these ids are not evicted until the returned function is called, or a commit fails. */
	pin(ids: readonly string[]): Release {
		for (const id of ids) this.pins.set(id, (this.pins.get(id) ?? 0) + 1);
		let isPinned = true;
		return () => {
			if (!isPinned) return;
			isPinned = false;
			for (const id of ids) {
				const others = (this.pins.get(id) ?? 0) - 1;
				if (others > 0) this.pins.set(id, others);
				else this.pins.delete(id);
			}
		};
	}

	/** A change of something that is not in memory went by. */
	passBy(key: string, at: number): void {
		this.passedBy.set(key, at);
	}

	/** The user if in memory, which they stay for being used now. */
	findUser(id: string): LoadedUser | undefined {
		const user = this.loadedUsers.get(id);
		if (user) user.usedAt = this.nowMs();
		return user;
	}

	async user(id: string): Promise<LoadedUser> {
		const loaded = this.findUser(id);
		if (loaded) return loaded;
		const underWay = this.loadingUsers.get(id);
		if (underWay) return underWay;
		const loading = this.loadUser(id).finally(() => this.loadingUsers.delete(id));
		this.loadingUsers.set(id, loading);
		return loading;
	}

	private async loadUser(id: string): Promise<LoadedUser> {
		const user = this.userOf(id, await this.consistently(id, () => this.source.user(id)));
		this.loadedUsers.set(id, user);
		return user;
	}

	/** Puts what the store has in the place of what is in memory, in one turn. Answers false where the user changed meanwhile. */
	async reloadUser(id: string): Promise<boolean> {
		const user = this.loadedUsers.get(id);
		if (!user) return true;
		const { newestChange } = user;
		await this.ledger.settled();
		const stored = this.userOf(id, await this.source.user(id));
		if (this.loadedUsers.get(id) !== user || user.newestChange !== newestChange) return false;
		// Counts that were handed out must not be newer than this.
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

	/** Loads with nothing about `key` under way that the store does not have yet. */
	private async consistently<T>(key: string, load: (attempt: number) => Promise<T>): Promise<T> {
		this.loading.add(key);
		try {
			for (let attempt = 0; ; attempt += 1) {
				const passed = this.passedBy.get(key) ?? 0;
				if (passed > this.ledger.durable()) await this.ledger.settled();
				const loaded = await load(attempt);
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
			if (this.loadedConversations[number]) continue;
			this.add(new LoadedConversation(number, brief.id, brief.kind, brief));
		}
	}

	/** Those of these that exist, loaded together. */
	async conversationsOf(numbers: readonly number[]): Promise<LoadedConversation[]> {
		const missing = numbers.filter((number) => !this.loadedConversations[number]);
		if (missing.length > 0) {
			const ids = missing.map((number) => this.conversations.id(number));
			this.bringIn(await this.source.briefs(ids));
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
		// Without holes, which would make a slower kind of list of it.
		while (loadedConversations.length <= conversation.number) loadedConversations.push(undefined);
		loadedConversations[conversation.number] = conversation;
	}

	/** A thread's replies, all of them. */
	async thread(conversation: LoadedConversation, threadTs: number): Promise<Timeline> {
		const loaded = conversation.threads.get(threadTs);
		if (loaded) return loaded;
		const rows = await this.consistently(threadKey(conversation.id, threadTs), (attempt) =>
			this.replies(conversation.id, threadTs, attempt < STEPPED_ATTEMPTS ? REPLIES_A_TURN : EVERYTHING),
		);
		const meanwhile = conversation.threads.get(threadTs);
		if (meanwhile) return meanwhile;
		const timeline = new Timeline(0);
		timeline.prepend(
			rows.map((row) => this.entryOf(row)),
			0,
		);
		conversation.keepThread(threadTs, timeline);
		return timeline;
	}

	/** Newest first, so many in each turn of the event loop. */
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
	 * Evicts what was not used since `before` (ms), unless a change of it is still being committed: an invitation
	 * changes a user who is idle, and a load from the store would miss it.
	 */
	evict(before: number): void {
		const durable = this.ledger.durable();
		for (const [number, conversation] of this.loadedConversations.entries()) {
			if (!conversation || conversation.usedAt >= before || conversation.stamp > durable) continue;
			if (this.pins.has(conversation.id)) continue;
			this.loadedConversations[number] = undefined;
			conversation.evicted = true;
			this.disruptions += 1;
		}
		for (const [id, user] of this.loadedUsers)
			if (user.usedAt < before && user.newestChange <= durable && !this.pins.has(id))
				this.loadedUsers.delete(id);
		for (const [key, at] of this.passedBy)
			if (at <= durable && !this.loading.has(key)) this.passedBy.delete(key);
	}

	/** Forgets everything: what was applied could not be stored, so memory is ahead of the truth. */
	clear(): void {
		for (const conversation of this.loadedConversations) if (conversation) conversation.evicted = true;
		this.loadedConversations.length = 0;
		this.disruptions += 1;
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
