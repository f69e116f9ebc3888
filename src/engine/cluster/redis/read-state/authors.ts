import { isCaughtUp } from '../../../../model/counting.ts';
import { inTimeline, type Message } from '../../../../model/message.ts';
import { NOTHING_AHEAD } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { ConversationCopy } from '../views/conversation-copy.ts';
import { NO_THREADS } from '../views/conversation-views.ts';
import type { CopiedViews } from '../views/views.ts';
import { packFollow, packMembership } from './packing.ts';
import { cursorFact, threadFact } from './standing-facts.ts';
import { followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

type Posted = Extract<Effect, { type: 'posted' }>;

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
export class Authors {
	constructor(
		private readonly views: CopiedViews,
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
				membership && (isUpTo(membership.cursor, prevTs, message) || this.hadRead(message, null, membership)),
				follow && this.hadRead(message, threadTs, { ...follow, ahead: NOTHING_AHEAD }),
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

	/** Whether the author had nothing unread: in the thread, or (null) in the timeline. */
	private async hadRead(
		{ conversation: id, user, ts }: Message,
		root: number | null,
		{ cursor, ahead }: { readonly cursor: number; readonly ahead: ReadonlySet<number> },
	): Promise<boolean> {
		const threads = root === null ? NO_THREADS : [root];
		let known: ConversationCopy | undefined;
		for (let back: number | null = null; ; back = cursor) {
			const copy = await this.views.conversation({ id, back, threads }, known);
			const timeline = root === null ? copy?.timeline : copy?.threads.get(root);
			if (!copy || !timeline) return false;
			known = copy;
			const reader = { number: copy.numbering.of(user), cursor, ahead, activity: NEVER };
			const caughtUp = isCaughtUp(timeline, reader, ts);
			if (caughtUp !== undefined) return caughtUp;
			if (back !== null) await this.views.reach(copy, cursor);
		}
	}
}

const NEVER = { isActiveAt: () => false };

const isUpTo = (cursor: number, prevTs: number | null, { ts }: Message): boolean =>
	prevTs !== null && cursor >= prevTs && cursor <= ts;

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);
