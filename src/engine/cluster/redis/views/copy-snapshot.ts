import {
	byActivity,
	type FollowerPosition,
	type InboxOrder,
	type MemberPosition,
} from '../../../../model/views.ts';
import type { ChangedViews, Ids, Scope, ViewSnapshot, Wanted } from '../../../ports/views.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import { type Copies, NO_THREADS } from './conversation-views.ts';
import type { UserCopy } from './user-copy.ts';

/** When it was asked. */
export interface When {
	/** Now, before anything was looked at. */
	readonly stamp: number;
	/** From when on what changed is known. */
	readonly horizon: number;
	/** What was left before is not known any more. */
	readonly leftSince: number;
}

/** The user's copy, and those of the conversations that were asked for. */
export class CopySnapshot implements ViewSnapshot {
	private readonly byId: ReadonlyMap<string, ConversationCopy>;

	constructor(
		readonly user: UserCopy,
		copies: Copies,
		private readonly when: When,
	) {
		this.byId = new Map(copies.flatMap((copy) => (copy ? [[copy.id, copy]] : [])));
	}

	get stamp(): number {
		return this.when.stamp;
	}

	/** Others may have gone further while this process did nothing: only the time of day says where they are. */
	position(): number {
		return this.when.stamp;
	}

	conversation(id: string): ConversationCopy | undefined {
		return this.byId.get(id);
	}

	get mostConversations(): number {
		return this.byId.size;
	}

	eachConversation(visit: (member: MemberPosition) => void): void {
		const { user } = this;
		for (const { conversation: id, membership } of user.memberships) {
			const conversation = membership.member ? this.byId.get(id) : undefined;
			if (conversation) visit({ user, conversation, membership });
		}
	}

	where(holds: (member: MemberPosition) => boolean): Ids {
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
			if (!start || byActivity(start, at) < 0) found.push({ copy, at });
		}
		return found
			.sort((a, b) => byActivity(a.at, b.at))
			.slice(0, most)
			.map(({ copy }) => copy);
	}

	*threads(): Generator<FollowerPosition> {
		const { user } = this;
		for (const { conversation: id, threadTs, follow } of user.follows) {
			const conversation = this.byId.get(id);
			const thread = conversation?.threads.get(threadTs);
			if (!conversation || !thread || conversation.archived) continue;
			yield { user, conversation, threadTs, thread, follow };
		}
	}

	/**
	 * Nothing holds Redis still while several slots are read, and a command may be applied long after it was stamped, as when its
	 * partition had no worker for a while. So what changed is found by when it became visible, and the answer says how late that was.
	 */
	changedSince(since: number): ChangedViews {
		const conversations: string[] = [];
		let lateness = 0;
		for (const { conversation: id, membership } of this.user.memberships) {
			const copy = this.byId.get(id);
			if (!copy) continue;
			const isChanged = copy.stamp > since || copy.seen > since;
			if (membership.member && isChanged) conversations.push(id);
			// Who has been there since knows of it.
			if ((isChanged || !membership.member) && copy.lateSeen > since)
				lateness = Math.max(lateness, copy.late);
		}
		return { conversations, lateness, horizon: this.when.horizon, settled: 0 };
	}
}

/** What is to be known of which conversations. */
export function wantedIn({ all, some, changes }: Scope, user: UserCopy, { leftSince }: When): Wanted[] {
	const wanted = new Map<string, Wanted>();
	const add = (one: Wanted): void => {
		const known = wanted.get(one.id);
		wanted.set(one.id, known ? both(known, one) : one);
	};
	if (all)
		for (const { conversation: id, membership } of user.memberships) {
			const { member, at, cursor } = membership;
			if (!member && !(changes && at > leftSince)) continue;
			wanted.set(id, { id, back: all === 'heads' ? null : cursor, threads: NO_THREADS });
		}
	if (all === 'threads')
		for (const [id, followed] of Map.groupBy(user.follows, ({ conversation }) => conversation))
			if (wanted.has(id)) add({ id, back: null, threads: followed.map(({ threadTs }) => threadTs) });
	for (const one of some?.(user) ?? []) add(one);
	return [...wanted.values()];
}

const both = (a: Wanted, b: Wanted): Wanted => ({
	id: a.id,
	back: a.back === null || b.back === null ? (a.back ?? b.back) : Math.min(a.back, b.back),
	threads: [...a.threads, ...b.threads],
	archivedToo: a.archivedToo === true || b.archivedToo === true,
});
