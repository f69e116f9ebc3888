import { inTimeline, type Message } from '../../../../model/message.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Conversations } from './conversations.ts';
import { packFollow, packMembership } from './packing.ts';
import { followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
export class Authors {
	constructor(
		private readonly conversations: Conversations,
		private readonly users: Users,
	) {}

	async posted(message: Message, isNew: boolean): Promise<ReadFact[]> {
		const { conversation, threadTs, ts, user } = message;
		const names = [membershipField(conversation)];
		if (threadTs !== null) names.push(followField(conversation, threadTs));
		for (;;) {
			const fields = await this.users.some(user, names);
			const read = inTimeline(message) ? membershipIn(fields, conversation) : undefined;
			const thread = threadTs === null ? undefined : followIn(fields, conversation, threadTs);
			// While it is being replayed, what the user did since stands.
			const membership = read && (isNew || read.at <= ts) ? read : undefined;
			const follow = thread && (isNew || thread.at <= ts) ? thread : undefined;
			const [inConversation, inThread] = await Promise.all([
				membership && this.isCaughtUp(message, null, membership.cursor, membership.ahead),
				follow && this.isCaughtUp(message, threadTs, follow.cursor),
			]);
			const changed: Record<string, string> = {};
			const facts: ReadFact[] = [];
			if (membership && inConversation) {
				const at = later(ts, membership);
				changed[membershipField(conversation)] = packMembership({
					...membership,
					cursor: ts,
					at,
					ahead: new Set(),
				});
				const { revision, joined } = membership;
				const ahead = membership.ahead.size > 0 ? { ahead: { dropUpTo: ts } } : {};
				const of = { joined, cursor: ts, revision };
				facts.push({ type: 'cursor', user, conversation, at, cursor: ts, revision, ...ahead, of });
			}
			if (follow && inThread && threadTs !== null) {
				const at = later(ts, follow);
				const { since } = follow;
				changed[followField(conversation, threadTs)] = packFollow({ cursor: ts, since, at });
				facts.push({ type: 'thread_cursor', user, conversation, threadTs, at, cursor: ts, since });
			}
			const stamp = facts.reduce((newest, { at }) => Math.max(newest, at), ts);
			if (facts.length === 0 || (await this.users.set(user, stamp, fields, changed))) return facts;
		}
	}

	private async isCaughtUp(
		{ conversation, user, ts }: Message,
		threadTs: number | null,
		cursor: number,
		ahead?: ReadonlySet<number>,
	): Promise<boolean> {
		if (cursor > ts) return false;
		const counted = await this.conversations.count(
			{ conversation, threadTs },
			{ user, cursor, ...(ahead ? { ahead } : {}), upTo: ts - 1, enough: 1, activeAt: () => false },
		);
		return counted?.counts.unread === 0;
	}
}

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);
