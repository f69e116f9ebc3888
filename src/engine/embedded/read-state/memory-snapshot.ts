import type { FollowerPosition, InboxOrder, MemberPosition } from '../../../model/views.ts';
import type { ChangedViews, Ids, Scope, ViewSnapshot } from '../../ports/views.ts';
import { type Depth, nextTurn } from './depths.ts';
import type { LoadedConversation, LoadedUser } from './loaded.ts';
import { Remembered } from './remembered.ts';
import type { Residents } from './residents.ts';

/**
 * Finds what a question is about, loaded as far back as it reaches. What is done with it is done in the turn in which it was found
 * to be loaded, so that nothing can move in between.
 */

const THREADS_PER_TURN = 32;
/** Of users in up to so many conversations nothing is remembered: all are looked at each time. */
const FEW = 512;

/** Everything that is in memory, seen by one user. */
export class MemorySnapshot implements ViewSnapshot {
	constructor(
		readonly user: LoadedUser,
		private readonly residents: Residents,
		readonly stamp: number,
	) {}

	conversation(id: string): LoadedConversation | undefined {
		return this.residents.find(id);
	}

	get mostConversations(): number {
		return this.user.memberships.size;
	}

	eachConversation(visit: (member: MemberPosition) => void): void {
		const { user } = this;
		for (let index = 0; index < user.memberships.size; index += 1) {
			const conversation = conversationAt(this.residents, user, index);
			if (conversation) visit({ user, conversation, membership: user.membershipAt(index) });
		}
	}

	*threads(): Generator<FollowerPosition> {
		const { user } = this;
		for (const [number, threads] of user.follows) {
			const conversation = this.residents.peekConversation(number);
			if (!conversation || conversation.archived) continue;
			for (const [threadTs, follow] of threads) {
				const thread = conversation.threads.get(threadTs);
				if (thread) yield { user, conversation, threadTs, thread, follow };
			}
		}
	}

	where(holds: (member: MemberPosition) => boolean): Ids {
		return this.remembered().where(holds);
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, inside?: boolean): LoadedConversation[] {
		return this.remembered().newest(start, most, among, inside);
	}

	private remembered(): Remembered {
		const { user, residents } = this;
		if (user.memberships.size <= FEW) return new Remembered(user, residents);
		user.remembered ??= new Remembered(user, residents);
		return user.remembered as Remembered;
	}

	/** Stamp of the newest change that concerns the user. What happens elsewhere does not move it. */
	position(): number {
		const { user } = this;
		let { stamp } = user;
		for (let index = 0; index < user.memberships.size; index += 1)
			stamp = Math.max(stamp, conversationAt(this.residents, user, index)?.stamp ?? 0);
		return stamp;
	}

	/** Stamps, application and the ledger have one order here: what has a stamp up to the clock's newest is in memory. */
	changedSince(since: number): ChangedViews {
		const { user } = this;
		const conversations: string[] = [];
		for (let index = 0; index < user.memberships.size; index += 1) {
			const conversation = conversationAt(this.residents, user, index);
			if (conversation && conversation.stamp > since) conversations.push(conversation.id);
		}
		return { conversations, lateness: 0, horizon: 0, settled: this.stamp };
	}
}

export class Looking {
	constructor(
		private readonly residents: Residents,
		private readonly stamp: () => number,
	) {}

	async whenLoaded<T>(id: string, scope: Scope, use: (views: MemorySnapshot) => T): Promise<T> {
		const absent = new Set<string>();
		for (;;) {
			const user = this.residents.findUser(id) ?? (await this.residents.user(id));
			// Dropped in between, as after a failed commit.
			if (this.residents.peekUser(id) !== user) continue;
			const load = this.missing(user, scope, absent);
			if (!load) return use(new MemorySnapshot(user, this.residents, this.stamp()));
			await load();
		}
	}

	/** What loads something of it that is not in memory; undefined where all is. */
	private missing(user: LoadedUser, { all, some }: Scope, absent: Set<string>) {
		const { residents } = this;
		if (all && !residents.isComplete(user)) return () => residents.complete(user);
		const gaps = all && all !== 'heads' ? this.gapsOf(user) : [];
		if (gaps.length > 0) return () => residents.depths.reachAll(gaps);
		if (all === 'threads' && !this.hasThreadsOf(user)) return () => this.loadThreads(user);
		for (const { id, back, threads } of some?.(user) ?? []) {
			if (absent.has(id)) continue;
			const conversation = residents.find(id);
			if (!conversation)
				return async () => {
					if (!(await residents.conversation(id))) absent.add(id);
				};
			if (back !== null && back < conversation.timeline.floor)
				return () => residents.depths.reach(conversation, back);
			const root = threads.find((threadTs) => !conversation.threads.has(threadTs));
			if (root !== undefined) return () => residents.thread(conversation, root);
		}
		return undefined;
	}

	/** Conversations that count and are not loaded as far back as the user's cursor. */
	private gapsOf(user: LoadedUser): Depth[] {
		const { memberships, setBack } = user;
		const isKnown = user.reachedAt === this.residents.disruptions;
		const gaps: Depth[] = [];
		for (const number of isKnown ? setBack : memberships.conversations()) {
			const index = memberships.find(number);
			const conversation = conversationAt(this.residents, user, index);
			const ts = memberships.cursorAt(index);
			if (conversation && !conversation.archived && ts < conversation.timeline.floor)
				gaps.push({ conversation, ts });
		}
		if (gaps.length > 0) return gaps;
		user.reachedAt = this.residents.disruptions;
		setBack.clear();
		return gaps;
	}

	private hasThreadsOf(user: LoadedUser): boolean {
		return this.missingThreadsOf(user).next().done === true;
	}

	private async loadThreads(user: LoadedUser): Promise<void> {
		for (const [index, { conversation, threadTs }] of [...this.missingThreadsOf(user)].entries()) {
			await this.residents.thread(conversation, threadTs);
			// Somebody may follow many: the others get their turns in between.
			if (index % THREADS_PER_TURN === THREADS_PER_TURN - 1) await nextTurn();
		}
	}

	private *missingThreadsOf(user: LoadedUser) {
		for (const [number, threads] of user.follows) {
			const conversation = this.residents.peekConversation(number);
			if (!conversation) continue;
			for (const threadTs of threads.keys())
				if (!conversation.threads.has(threadTs)) yield { conversation, threadTs };
		}
	}
}

/** Undefined where the user is no longer in it, or it is not loaded. */
function conversationAt(
	residents: Residents,
	{ memberships }: LoadedUser,
	index: number,
): LoadedConversation | undefined {
	if (!memberships.isMemberAt(index)) return undefined;
	return residents.peekConversation(memberships.conversationAt(index));
}
