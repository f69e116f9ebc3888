import { nextTurn } from '../../../model/next-turn.ts';
import type { FollowerContext, InboxOrder, MemberContext } from '../../../model/views.ts';
import type { ChangedViews, Ids, Scope, ViewSnapshot } from '../../ports/views.ts';
import type { LoadTarget } from '../../read-state/timeline-loader.ts';
import { InboxIndex } from './inbox-index.ts';
import type { ResidentConversation, Residents, ResidentUser } from './residents.ts';

/**
 * Loads the scope of a read into memory, then runs the read without an await, so that no change can happen in between.
 */

const THREADS_PER_TURN = 32;
/** For users in up to this many conversations nothing is cached: all are visited each time. */
const MAX_UNCACHED = 512;

interface UnloadedThread {
	readonly conversation: ResidentConversation;
	readonly threadTs: number;
}

/** The views in memory, for one user. */
export class MemorySnapshot implements ViewSnapshot {
	constructor(
		readonly user: ResidentUser,
		private readonly residents: Residents,
		readonly stamp: number,
	) {}

	conversation(id: string): ResidentConversation | undefined {
		return this.residents.find(id);
	}

	get mostConversations(): number {
		return this.user.memberships.size;
	}

	eachConversation(visit: (member: MemberContext) => void): void {
		const { user } = this;
		for (let index = 0; index < user.memberships.size; index += 1) {
			const conversation = conversationAt(this.residents, user, index);
			if (conversation) visit({ user, conversation, membership: user.membershipAt(index) });
		}
	}

	threads(): Iterable<FollowerContext> {
		return this.user.threadsIn((number) => this.residents.peekConversation(number));
	}

	where(holds: (member: MemberContext) => boolean): Ids {
		return this.inboxIndex().where(holds);
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, isAmong?: boolean): ResidentConversation[] {
		return this.inboxIndex().newest(start, most, among, isAmong);
	}

	private inboxIndex(): InboxIndex {
		const { user, residents } = this;
		if (user.memberships.size <= MAX_UNCACHED) return new InboxIndex(user, residents);
		user.inboxIndex ??= new InboxIndex(user, residents);
		return user.inboxIndex as InboxIndex;
	}

	/** Stamp of the newest change that concerns the user; changes elsewhere do not move it. */
	position(): number {
		const { user } = this;
		let { stamp } = user;
		for (let index = 0; index < user.memberships.size; index += 1)
			stamp = Math.max(stamp, conversationAt(this.residents, user, index)?.stamp ?? 0);
		return stamp;
	}

	/** Stamps, applying and commits have the same order here: every change up to the clock's newest stamp is in memory. */
	changedSince(since: number): ChangedViews {
		const { user } = this;
		const conversations: string[] = [];
		for (let index = 0; index < user.memberships.size; index += 1) {
			const conversation = conversationAt(this.residents, user, index);
			if (conversation && conversation.stamp > since) conversations.push(conversation.id);
		}
		return { conversations, lateness: 0, horizon: 0, visibleUpTo: this.stamp };
	}
}

export class ScopeLoader {
	constructor(
		private readonly residents: Residents,
		private readonly stamp: () => number,
	) {}

	async whenLoaded<T>(id: string, scope: Scope, use: (views: MemorySnapshot) => T): Promise<T> {
		const absent = new Set<string>();
		for (;;) {
			const user = this.residents.findUser(id) ?? (await this.residents.user(id));
			// Dropped in the meantime, for example after a failed commit.
			if (this.residents.peekUser(id) !== user) continue;
			const load = this.missing(user, scope, absent);
			if (!load) return use(new MemorySnapshot(user, this.residents, this.stamp()));
			await load();
		}
	}

	/** Returns a function that loads a missing part; undefined if nothing is missing. */
	private missing(user: ResidentUser, { all, some }: Scope, absent: Set<string>) {
		const { residents } = this;
		if (all && !residents.isComplete(user)) return () => residents.complete(user);
		const short = all && all !== 'conversations' ? this.missingTimelinesOf(user) : [];
		if (short.length > 0) return () => residents.loader.loadAll(short);
		const unloaded = all === 'threads' ? this.missingThreadsOf(user) : [];
		if (unloaded.length > 0) return () => this.loadThreads(unloaded);
		for (const { id, after, threads } of some?.(user) ?? []) {
			if (absent.has(id)) continue;
			const conversation = residents.find(id);
			if (!conversation)
				return async () => {
					if (!(await residents.conversation(id))) absent.add(id);
				};
			if (after !== null && after < conversation.timeline.floor)
				return () => residents.loader.loadBackTo(conversation, after);
			const root = threads.find((threadTs) => !conversation.threads.has(threadTs));
			if (root !== undefined) return () => residents.loader.loadThread(conversation, root);
		}
		return undefined;
	}

	/** Unarchived conversations that are not loaded back to the user's cursor. */
	private missingTimelinesOf(user: ResidentUser): LoadTarget<ResidentConversation>[] {
		const { memberships, movedBack = [] } = user;
		const isKnown = user.entriesLoadedAt === this.residents.disruptions;
		const found: LoadTarget<ResidentConversation>[] = [];
		for (const number of isKnown ? movedBack : memberships.conversations()) {
			const index = memberships.find(number);
			const conversation = conversationAt(this.residents, user, index);
			const ts = memberships.cursorAt(index);
			if (conversation && !conversation.archived && ts < conversation.timeline.floor)
				found.push({ conversation, ts });
		}
		if (found.length > 0) return found;
		user.entriesLoadedAt = this.residents.disruptions;
		user.movedBack = undefined;
		return found;
	}

	private async loadThreads(threads: readonly UnloadedThread[]): Promise<void> {
		for (const [index, { conversation, threadTs }] of threads.entries()) {
			await this.residents.loader.loadThread(conversation, threadTs);
			// A user may follow many threads: yield now and then.
			if (index % THREADS_PER_TURN === THREADS_PER_TURN - 1) await nextTurn();
		}
	}

	private missingThreadsOf(user: ResidentUser): UnloadedThread[] {
		return [...user.follows].flatMap(([number, threads]) => {
			const conversation = this.residents.peekConversation(number);
			if (!conversation) return [];
			const missing = [...threads.keys()].filter((threadTs) => !conversation.threads.has(threadTs));
			return missing.map((threadTs) => ({ conversation, threadTs }));
		});
	}
}

/** Undefined if the user has left it, or it is not loaded. */
function conversationAt(
	residents: Residents,
	{ memberships }: ResidentUser,
	index: number,
): ResidentConversation | undefined {
	if (!memberships.isMemberAt(index)) return undefined;
	return residents.peekConversation(memberships.conversationAt(index));
}
