import { hasUnread } from '../../../../model/counting.ts';
import { inTimeline, type Message } from '../../../../model/message.ts';
import { NOTHING_AHEAD } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { ConversationCopy } from '../views/conversation-copy.ts';
import { NO_THREADS } from '../views/conversation-views.ts';
import type { Views } from '../views/views.ts';
import { packFollow, packMembership } from './packing.ts';
import { cursorFact, threadFact } from './standing-facts.ts';
import { followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

type Posted = Extract<Effect, { type: 'posted' }>;

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
export class Authors {
	constructor(
		private readonly views: Views,
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
				// Mostly the author has read the message before: then nothing has to be looked at.
				membership &&
					(isUpTo(membership.cursor, prevTs, message) ||
						this.isCaughtUp(message, membership.cursor, membership.ahead)),
				follow && this.isCaughtUpIn(threadTs as number, message, follow.cursor),
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
		cursor: number,
		ahead: ReadonlySet<number>,
	): Promise<boolean> {
		if (cursor > ts) return false;
		let known: ConversationCopy | undefined;
		for (let back: number | null = null; ; back = cursor) {
			const copy = await this.views.conversation({ id: conversation, back, threads: NO_THREADS }, known);
			if (!copy) return false;
			known = copy;
			const reader = { number: copy.numbering.of(user), cursor, ahead, activity: NEVER };
			// Mostly one of the newest is unread, however far back the cursor is.
			if (hasUnread(copy.timeline, reader, ts)) return false;
			if (copy.timeline.floor <= cursor) return true;
			if (back !== null) await this.views.reach(copy, cursor);
		}
	}

	private async isCaughtUpIn(
		threadTs: number,
		{ conversation, user, ts }: Message,
		cursor: number,
	): Promise<boolean> {
		if (cursor > ts) return false;
		const copy = await this.views.conversation({ id: conversation, back: null, threads: [threadTs] });
		const thread = copy?.threads.get(threadTs);
		if (!copy || !thread) return false;
		const reader = { number: copy.numbering.of(user), cursor, ahead: NOTHING_AHEAD, activity: NEVER };
		return !hasUnread(thread, reader, ts);
	}
}

const NEVER = { isActiveAt: () => false };

const isUpTo = (cursor: number, prevTs: number | null, { ts }: Message): boolean =>
	prevTs !== null && cursor >= prevTs && cursor <= ts;

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);
