import { Numbering } from '../../../model/numbering.ts';
import { SingleFlight } from '../../../model/single-flight.ts';
import { Timeline } from '../../../model/timeline.ts';
import type { ConversationBrief, Ledger, StateSource } from '../../ports/store.ts';
import type { Release } from '../../ports/views.ts';
import { LoadedConversation } from '../../read-state/conversation.ts';
import { TimelineLoader } from '../../read-state/timeline-loader.ts';
import { LoadedUser, type UserContext } from '../../read-state/user.ts';
import type { StampedMembership } from '../../read-state/user-steps.ts';
import { Journal } from './journal.ts';

/**
 * Loads conversations and users into memory on first use, and evicts those that were not used for long.
 *
 * The store lags behind memory by the commits in flight. So the load of a user could miss a change that was applied while the user
 * was not in memory: `unloadedChanges` has the stamps of such changes. A load waits until the ledger has them, and starts over if the
 * user changes again during the load. Conversations need no such stamps: `prepare` loads them before a command changes them.
 */

export class ResidentConversation extends LoadedConversation {
	usedAt = 0;

	constructor(
		readonly number: number,
		brief: Pick<ConversationBrief, 'id' | 'kind' | 'archived' | 'stamp' | 'latest'>,
		userNumbers: Numbering,
	) {
		super(brief.id, userNumbers);
		this.kind = brief.kind;
		this.archived = brief.archived;
		this.stamp = brief.stamp;
		this.timeline = new Timeline(brief.latest);
	}
}

export class ResidentUser extends LoadedUser {
	usedAt = 0;
	/** `Residents.disruptions` when all of the user's conversations were last known to be loaded. */
	conversationsLoadedAt = -1;
	/** `Residents.disruptions` when all entries after the user's cursors were last known to be loaded. */
	entriesLoadedAt = -1;
	/** Numbers of conversations that the user joined, or whose cursor moved back, since `entriesLoadedAt`. */
	movedBack: Set<number> | undefined;
	/** Conversations where the user's own state changed; created on first use. */
	private ownJournal: Journal | undefined;
	/** The `InboxIndex` that `MemorySnapshot` keeps for a user in very many conversations. */
	inboxIndex: object | undefined;

	/** Stamp of the newest change of the user, including activity. */
	get newestChange(): number {
		return Math.max(this.stamp, this.activity.newest);
	}

	get journal(): Journal {
		this.ownJournal ??= new Journal();
		return this.ownJournal;
	}

	/** Also called while the user is being constructed: nothing has to be recorded then. */
	override setMembership(conversation: string, membership: StampedMembership): void {
		const number = this.context.conversationNumbers.of(conversation);
		this.ownJournal?.add(number);
		if (this.entriesLoadedAt >= 0) {
			const index = this.memberships.find(number);
			const isKnown = index >= 0 && this.memberships.isMemberAt(index);
			if (!isKnown || membership.cursor < this.memberships.cursorAt(index))
				this.movedBack = (this.movedBack ?? new Set()).add(number);
		}
		super.setMembership(conversation, membership);
	}
}

export class Residents {
	/** Numbers of all known users and conversations, loaded or not. */
	readonly userNumbers = new Numbering();
	readonly conversationNumbers = new Numbering();
	/** Changed conversations. */
	readonly journal = new Journal();
	readonly loader: TimelineLoader<ResidentConversation>;
	/** By number: counting visits all conversations of a user, up to a hundred thousand. */
	private readonly loadedConversations: (ResidentConversation | undefined)[] = [];
	private readonly loadedUsers = new Map<string, ResidentUser>();
	private readonly userLoads = new SingleFlight<string, ResidentUser>();
	/** By user: the stamp of the newest change while the user was not in memory. */
	private readonly unloadedChanges = new Map<string, number>();
	/** Ids of conversations and users that must stay in memory: for each command that is prepared and not applied yet. */
	private readonly pins = new Set<readonly string[]>();
	private context: UserContext = { ...this, starts: [], isStamped: false };
	/** Rises when conversations are evicted or unarchived: readers check again whether everything they need is loaded. */
	disruptions = 0;

	constructor(
		private readonly source: StateSource,
		private readonly ledger: Ledger,
		private readonly nowMs: () => number,
	) {
		this.loader = new TimelineLoader({ source, check: async () => undefined, onGrown: () => undefined });
	}

	async open(): Promise<void> {
		this.context = { ...this.context, starts: await this.source.starts() };
	}

	/** The user if in memory, without marking it as used. */
	peekUser(id: string): ResidentUser | undefined {
		return this.loadedUsers.get(id);
	}

	peekConversation(number: number): ResidentConversation | undefined {
		return this.loadedConversations[number];
	}

	/** The conversation if in memory; marks it as used. */
	find(id: string): ResidentConversation | undefined {
		const number = this.conversationNumbers.peek(id);
		const conversation = number === undefined ? undefined : this.loadedConversations[number];
		if (conversation) conversation.usedAt = this.nowMs();
		return conversation;
	}

	/** Protects these conversations and users from eviction until the returned function is called, or a commit fails. */
	keepLoaded(ids: readonly string[]): Release {
		this.pins.add(ids);
		return () => void this.pins.delete(ids);
	}

	private pinned(): ReadonlySet<string> {
		return new Set([...this.pins].flat());
	}

	/** Records a change of a user who is not in memory. */
	noteUnloadedChange(user: string, at: number): void {
		this.unloadedChanges.set(user, at);
	}

	/** The user if in memory; marks it as used. */
	findUser(id: string): ResidentUser | undefined {
		const user = this.loadedUsers.get(id);
		if (user) user.usedAt = this.nowMs();
		return user;
	}

	async user(id: string): Promise<ResidentUser> {
		return this.findUser(id) ?? this.userLoads.run(id, () => this.loadUser(id));
	}

	/** Waits until the store has every change of the user, then reads; starts over if the user changes during the read. */
	private async loadUser(id: string): Promise<ResidentUser> {
		for (;;) {
			const unloadedChange = this.unloadedChanges.get(id) ?? 0;
			if (unloadedChange > this.ledger.durable()) await this.ledger.flushed();
			const rows = await this.source.user(id);
			if ((this.unloadedChanges.get(id) ?? 0) !== unloadedChange) continue;
			// No await from the check to `set`: a change in between would find neither the user nor a load that notices it.
			this.unloadedChanges.delete(id);
			const user = new ResidentUser(id, this.context, rows);
			user.usedAt = this.nowMs();
			this.loadedUsers.set(id, user);
			return user;
		}
	}

	async conversation(id: string): Promise<ResidentConversation | undefined> {
		if (!this.find(id)) await this.load([id]);
		return this.find(id);
	}

	/** Loads those of these conversations that exist, with one query. */
	private async load(ids: readonly string[]): Promise<void> {
		// Only existing conversations get a number, because anybody can ask for any id.
		for (const brief of await this.source.briefs(ids)) if (!this.find(brief.id)) this.add(brief);
	}

	/** Whether every conversation of the user is in memory. */
	isComplete(user: ResidentUser): boolean {
		return user.conversationsLoadedAt === this.disruptions;
	}

	async complete(user: ResidentUser): Promise<void> {
		const { disruptions } = this;
		const { memberships } = user;
		const missing: string[] = [];
		const now = this.nowMs();
		for (let index = 0; index < memberships.size; index += 1) {
			if (!memberships.isMemberAt(index)) continue;
			const number = memberships.conversationAt(index);
			const conversation = this.loadedConversations[number];
			if (conversation) conversation.usedAt = now;
			else missing.push(this.conversationNumbers.id(number));
		}
		if (missing.length > 0) await this.load(missing);
		user.conversationsLoadedAt = disruptions;
	}

	/** Adds a conversation, without entries. */
	add(brief: ConstructorParameters<typeof ResidentConversation>[1]): void {
		const number = this.conversationNumbers.of(brief.id);
		const conversation = new ResidentConversation(number, brief, this.userNumbers);
		conversation.usedAt = this.nowMs();
		const { loadedConversations } = this;
		// No holes: they would make it a slower kind of array.
		while (loadedConversations.length <= number) loadedConversations.push(undefined);
		loadedConversations[number] = conversation;
	}

	/** Evicts conversations and users not used since `before` (ms), if that loses nothing. */
	evict(before: number): void {
		const pinned = this.pinned();
		for (const conversation of this.loadedConversations)
			if (conversation && conversation.usedAt < before) this.dropConversation(conversation, pinned);
		for (const user of this.loadedUsers.values()) if (user.usedAt < before) this.dropUser(user, pinned);
		const durable = this.ledger.durable();
		for (const [user, at] of this.unloadedChanges)
			if (at <= durable && !this.userLoads.isRunning(user)) this.unloadedChanges.delete(user);
	}

	/** Returns false if a command needs the conversation, or one of its changes is not durable yet: a load would miss that change. */
	dropConversation({ id, number, stamp }: ResidentConversation, pinned = this.pinned()): boolean {
		if (stamp > this.ledger.durable() || pinned.has(id)) return false;
		this.loadedConversations[number] = undefined;
		this.journal.add(number);
		this.disruptions += 1;
		return true;
	}

	/** As `dropConversation`. Even an idle user can have a change that is not durable yet: somebody else's invite. */
	dropUser({ id, newestChange }: ResidentUser, pinned = this.pinned()): boolean {
		if (newestChange > this.ledger.durable() || pinned.has(id)) return false;
		this.loadedUsers.delete(id);
		return true;
	}

	/** Drops everything: applied changes could not be persisted, so memory is ahead of the store. */
	clear(): void {
		this.loadedConversations.length = 0;
		this.disruptions += 1;
		this.loadedUsers.clear();
		this.unloadedChanges.clear();
	}
}
