import {
	byLatestMessage,
	type ConversationView,
	type FollowerContext,
	type InboxOrder,
	type MemberContext,
	type UserView,
} from '../../../../model/views.ts';
import type { ChangedViews, ConversationScope, Ids, Scope, ViewSnapshot } from '../../../ports/views.ts';
import type { Copies } from './conversation-copies.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import type { UserCopy } from './user-copy.ts';

const NO_THREADS: readonly number[] = [];

/** The time of a read. */
export interface ReadTime {
	/** The time before anything was read. */
	readonly stamp: number;
	/** Changes are known from this stamp on. */
	readonly horizon: number;
	/** Conversations left before this stamp are not included. */
	readonly leftSince: number;
}

/** The copies of a user and of the conversations in scope. */
export class CopySnapshot implements ViewSnapshot {
	private copiesById: Map<string, ConversationCopy> | undefined;

	constructor(
		readonly user: UserCopy,
		private readonly copies: Copies,
		private readonly time: ReadTime,
	) {}

	/** Made on first use: counting all conversations does without it. */
	private get byId(): ReadonlyMap<string, ConversationCopy> {
		this.copiesById ??= new Map(this.copies.flatMap((copy) => (copy ? [[copy.id, copy] as const] : [])));
		return this.copiesById;
	}

	get stamp(): number {
		return this.time.stamp;
	}

	/** The time before anything was read: other processes may be ahead while this one is idle. */
	position(): number {
		return this.time.stamp;
	}

	conversation(id: string): ConversationCopy | undefined {
		return this.byId.get(id);
	}

	get mostConversations(): number {
		return this.copies.length;
	}

	/** The same conversations, with changes of the user that are not made yet. */
	asOf(user: UserView): ViewSnapshot {
		const conversations = this.byId;
		return Object.create(this, {
			user: { value: user },
			conversation: { value: (id: string) => conversations.get(id) },
		}) as ViewSnapshot;
	}

	eachConversation(visit: (member: MemberContext) => void): void {
		const { user } = this;
		for (const conversation of this.copies) {
			const membership = conversation && user.membership(conversation.id);
			if (conversation && membership?.member) visit({ user, conversation, membership });
		}
	}

	where(holds: (member: MemberContext) => boolean): Ids {
		const ids = new Set<string>();
		this.eachConversation((member) => {
			if (!member.conversation.archived && holds(member)) ids.add(member.conversation.id);
		});
		return ids;
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, isAmong = true): ConversationView[] {
		const found: ConversationView[] = [];
		this.eachConversation(({ conversation }) => {
			if (conversation.archived || (among && among.has(conversation.id) !== isAmong)) return;
			if (!start || byLatestMessage(start, orderOf(conversation)) < 0) found.push(conversation);
		});
		return found.sort((a, b) => byLatestMessage(orderOf(a), orderOf(b))).slice(0, most);
	}

	threads(): Iterable<FollowerContext> {
		const { conversationNumbers } = this.user.context;
		return this.user.threadsIn((number) => this.byId.get(conversationNumbers.id(number)));
	}

	/**
	 * Redis changes while several slots are read, and a command may be applied long after it was stamped, for example if its
	 * partition had no worker for a while. So changes are found by when they became visible, and the result says how late that was.
	 */
	changedSince(since: number): ChangedViews {
		const conversations: string[] = [];
		const { user } = this;
		let lateness = user.lateSeen > since ? user.late : 0;
		for (const copy of this.copies) {
			if (!copy) continue;
			const isMember = user.membership(copy.id)?.member === true;
			const isChanged = copy.stamp > since || copy.seen > since;
			if (isMember && isChanged) conversations.push(copy.id);
			// A late change that became visible before `since` does not count: the client was subscribed then, and received it.
			if ((isChanged || !isMember) && copy.lateSeen > since) lateness = Math.max(lateness, copy.late);
		}
		return { conversations, lateness, horizon: this.time.horizon, visibleUpTo: 0 };
	}
}

const orderOf = ({ id, timeline }: ConversationView): InboxOrder => ({
	conversation: id,
	latest: timeline.latest,
});

/** The conversations in a scope, and which parts of them; in the same order in every process. */
export function conversationsInScope(
	{ all, some, includesLeft }: Scope,
	user: UserCopy,
	{ leftSince }: ReadTime,
): readonly ConversationScope[] {
	// The scope of all conversations stays the same until the user changes.
	const isCached = all !== undefined && !some && !includesLeft;
	const known = isCached ? user.scopes.get(all) : undefined;
	if (known) return known;
	const { conversationNumbers } = user.context;
	const wanted = new Map<string, ConversationScope>();
	const add = (one: ConversationScope): void => {
		const known = wanted.get(one.id);
		wanted.set(one.id, known ? both(known, one) : one);
	};
	for (let index = 0; all && index < user.memberships.size; index += 1) {
		const { member, at, cursor } = user.membershipAt(index);
		if (!member && !(includesLeft && at > leftSince)) continue;
		const id = conversationNumbers.id(user.memberships.conversationAt(index));
		wanted.set(id, { id, after: all === 'conversations' ? null : cursor, threads: NO_THREADS });
	}
	if (all === 'threads')
		for (const [number, threads] of user.follows) {
			const id = conversationNumbers.id(number);
			if (wanted.has(id)) add({ id, after: null, threads: [...threads.keys()] });
		}
	for (const one of some?.(user) ?? []) add(one);
	const found = [...wanted.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
	if (isCached) user.scopes.set(all, found);
	return found;
}

const both = (a: ConversationScope, b: ConversationScope): ConversationScope => ({
	id: a.id,
	after: a.after === null || b.after === null ? (a.after ?? b.after) : Math.min(a.after, b.after),
	threads: [...a.threads, ...b.threads],
	archivedToo: a.archivedToo === true || b.archivedToo === true,
});
