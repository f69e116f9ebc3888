import {
	byLatestMessage,
	type FollowerContext,
	type InboxOrder,
	type MemberContext,
} from '../../../../model/views.ts';
import type { ChangedViews, ConversationScope, Ids, Scope, ViewSnapshot } from '../../../ports/views.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import { type Copies, NO_THREADS } from './conversation-views.ts';
import type { UserCopy } from './user-copy.ts';

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

	eachConversation(visit: (member: MemberContext) => void): void {
		const { user, copies } = this;
		let place = 0;
		for (const { conversation: id, membership } of user.memberships) {
			if (!membership.member) continue;
			// Usually the copies are those of the memberships, in the same order.
			const next = copies[place];
			place += 1;
			const conversation = next?.id === id ? next : this.byId.get(id);
			if (conversation) visit({ user, conversation, membership });
		}
	}

	where(holds: (member: MemberContext) => boolean): Ids {
		const ids = new Set<string>();
		this.eachConversation((member) => {
			if (!member.conversation.archived && holds(member)) ids.add(member.conversation.id);
		});
		return ids;
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, inside = true): ConversationCopy[] {
		const found: { readonly copy: ConversationCopy; readonly at: InboxOrder }[] = [];
		for (const { conversation: id } of this.user.memberships.filter(({ membership }) => membership.member)) {
			const copy = this.byId.get(id);
			if (!copy || copy.archived || (among && among.has(id) !== inside)) continue;
			const at = { conversation: id, latest: copy.timeline.latest };
			if (!start || byLatestMessage(start, at) < 0) found.push({ copy, at });
		}
		return found
			.sort((a, b) => byLatestMessage(a.at, b.at))
			.slice(0, most)
			.map(({ copy }) => copy);
	}

	*threads(): Generator<FollowerContext> {
		const { user } = this;
		for (const { conversation: id, threadTs, follow } of user.follows) {
			const conversation = this.byId.get(id);
			const thread = conversation?.threads.get(threadTs);
			if (!conversation || !thread || conversation.archived) continue;
			yield { user, conversation, threadTs, thread, follow };
		}
	}

	/**
	 * Redis changes while several slots are read, and a command may be applied long after it was stamped, for example if its
	 * partition had no worker for a while. So changes are found by when they became visible, and the result says how late that was.
	 */
	changedSince(since: number): ChangedViews {
		const conversations: string[] = [];
		let lateness = 0;
		for (const { conversation: id, membership } of this.user.memberships) {
			const copy = this.byId.get(id);
			if (!copy) continue;
			const isChanged = copy.stamp > since || copy.seen > since;
			if (membership.member && isChanged) conversations.push(id);
			// A late change that became visible before `since` does not count: the client was subscribed then, and received it.
			if ((isChanged || !membership.member) && copy.lateSeen > since)
				lateness = Math.max(lateness, copy.late);
		}
		return { conversations, lateness, horizon: this.time.horizon, visibleUpTo: 0 };
	}
}

/** The conversations in a scope, and which parts of them. */
export function conversationsInScope(
	scope: Scope,
	user: UserCopy,
	time: ReadTime,
): readonly ConversationScope[] {
	const { all, some, changes } = scope;
	// A copy of a user never changes, so the scope of all its conversations is computed once.
	if (!all || some || changes) return computeScope(scope, user, time);
	const known = user.scopes.get(all) ?? computeScope(scope, user, time);
	user.scopes.set(all, known);
	return known;
}

function computeScope(
	{ all, some, changes }: Scope,
	user: UserCopy,
	{ leftSince }: ReadTime,
): readonly ConversationScope[] {
	const wanted = new Map<string, ConversationScope>();
	const add = (one: ConversationScope): void => {
		const known = wanted.get(one.id);
		wanted.set(one.id, known ? both(known, one) : one);
	};
	if (all)
		for (const { conversation: id, membership } of user.memberships) {
			const { member, at, cursor } = membership;
			if (!member && !(changes && at > leftSince)) continue;
			wanted.set(id, { id, after: all === 'heads' ? null : cursor, threads: NO_THREADS });
		}
	if (all === 'threads')
		for (const [id, followed] of Map.groupBy(user.follows, ({ conversation }) => conversation))
			if (wanted.has(id)) add({ id, after: null, threads: followed.map(({ threadTs }) => threadTs) });
	for (const one of some?.(user) ?? []) add(one);
	return [...wanted.values()];
}

const both = (a: ConversationScope, b: ConversationScope): ConversationScope => ({
	id: a.id,
	after: a.after === null || b.after === null ? (a.after ?? b.after) : Math.min(a.after, b.after),
	threads: [...a.threads, ...b.threads],
	archivedToo: a.archivedToo === true || b.archivedToo === true,
});
