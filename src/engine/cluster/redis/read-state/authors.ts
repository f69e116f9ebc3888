import { inTimeline, type Message } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Conversations } from './conversations.ts';
import { packFollow, packMembership } from './packing.ts';
import { cursorFact, threadFact } from './standing-facts.ts';
import { followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

type Posted = Extract<Effect, { type: 'posted' }>;

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
export class Authors {
	constructor(
		private readonly conversations: Conversations,
		private readonly users: Users,
	) {}

	async posted(effect: Posted, isNew: boolean): Promise<ReadFact[]> {
		const { message, prevTs } = effect;
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
				// Mostly the author has read the message before: then nothing has to be counted.
				membership &&
					(isUpTo(membership.cursor, prevTs, message) ||
						this.isCaughtUp(message, null, membership.cursor, membership.ahead)),
				follow && this.isCaughtUp(message, threadTs, follow.cursor),
			]);
			const changed: Record<string, string> = {};
			const facts: ReadFact[] = [];
			if (membership && inConversation) {
				const moved = { ...membership, cursor: ts, at: later(ts, membership), ahead: new Set<number>() };
				changed[membershipField(conversation)] = packMembership(moved);
				facts.push(cursorFact(user, conversation, moved));
			}
			if (follow && inThread && threadTs !== null) {
				const moved = { ...follow, cursor: ts, at: later(ts, follow) };
				changed[followField(conversation, threadTs)] = packFollow(moved);
				facts.push(threadFact(user, conversation, threadTs, moved));
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

const isUpTo = (cursor: number, prevTs: number | null, { ts }: Message): boolean =>
	prevTs !== null && cursor >= prevTs && cursor <= ts;

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);
