import { isCaughtUp } from '../../../../model/counting.ts';
import { inTimeline, type Message } from '../../../../model/message.ts';
import { NOTHING_AHEAD } from '../../../../model/views.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { ConversationCopy } from '../views/conversation-copy.ts';
import { NO_THREADS } from '../views/conversation-views.ts';
import type { CopiedViews } from '../views/views.ts';
import { type Follow, type Membership, packFollow, packMembership } from './packing.ts';
import { cursorFact, threadFact } from './standing-facts.ts';
import { type Fields, followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

type Posted = Extract<Effect, { type: 'posted' }>;

export interface Post {
	readonly effect: Posted;
	/** Applied for the first time. */
	readonly isNew: boolean;
	/** Who wrote the timeline message before it; null where that is not known. */
	readonly previousBy: string | null;
}

/** Where an author stands: in the conversation, and in the threads that the posts are in. */
interface Standing {
	membership: Membership | undefined;
	readonly follows: Map<number, Follow>;
}

/** Who had nothing unread before their own message has read it: in the timeline, and likewise in its thread. */
export class Authors {
	constructor(
		private readonly views: CopiedViews,
		private readonly users: Users,
	) {}

	/** What deciding about the posts of one author in a conversation needs. */
	read(user: string, conversation: string, posts: readonly Posted[]): Promise<Fields> {
		const threads = new Set(posts.map(({ message }) => message.threadTs));
		const names = [...threads].map((ts) =>
			ts === null ? membershipField(conversation) : followField(conversation, ts),
		);
		// Broadcast replies are in the timeline too.
		if (!threads.has(null)) names.push(membershipField(conversation));
		return this.users.some(user, names);
	}

	/** Posts of one author in one conversation, in order. `read`: asked before, and used unless it has changed since. */
	async posted(user: string, posts: readonly Post[], read?: Promise<Fields>): Promise<ReadFact[]> {
		const effects = posts.map(({ effect }) => effect);
		const conversation = effects[0]?.conversation.id ?? '';
		for (let known = read; ; known = undefined) {
			const fields = await (known ?? this.read(user, conversation, effects));
			const standing = standingIn(fields, conversation, effects);
			const moved = new Map<string, Moved>();
			for (const post of posts)
				for (const one of await this.movedBy(post, standing)) moved.set(one.field, one);
			if (moved.size === 0) return [];
			const facts = [...moved.values()].map(({ fact }) => fact);
			const stamp = facts.reduce((newest, { at }) => Math.max(newest, at), 0);
			const changed = Object.fromEntries([...moved].map(([field, { packed }]) => [field, packed]));
			if (await this.users.set(user, stamp, fields, changed)) return facts;
		}
	}

	/** Moves the cursors in `standing` onto the post, where the author had nothing unread before it. */
	private async movedBy({ effect, isNew, previousBy }: Post, standing: Standing): Promise<Moved[]> {
		const { message, prevTs } = effect;
		const { conversation, threadTs, ts, user } = message;
		const read = inTimeline(message) ? standing.membership : undefined;
		const thread = threadTs === null ? undefined : standing.follows.get(threadTs);
		// While it is being replayed, what the user did since stands.
		const membership = read && (isNew || read.at <= ts) ? read : undefined;
		const follow = thread && (isNew || thread.at <= ts) ? thread : undefined;
		const [inConversation, inThread] = await Promise.all([
			// Mostly the author has read the message before, or has not: then nothing has to be looked at.
			membership &&
				(isUpTo(membership.cursor, prevTs, message) ||
					(!lacks(membership, prevTs, previousBy, user) && this.hadRead(message, null, membership))),
			follow && this.hadRead(message, threadTs, { ...follow, ahead: NOTHING_AHEAD }),
		]);
		const moved: Moved[] = [];
		if (membership && inConversation) {
			const after = { ...membership, cursor: ts, at: later(ts, membership), ahead: new Set<number>() };
			standing.membership = after;
			moved.push({
				field: membershipField(conversation),
				packed: packMembership(after),
				fact: cursorFact(user, conversation, after),
			});
		}
		if (follow && inThread && threadTs !== null) {
			const after = { ...follow, cursor: ts, at: later(ts, follow) };
			standing.follows.set(threadTs, after);
			moved.push({
				field: followField(conversation, threadTs),
				packed: packFollow(after),
				fact: threadFact(user, conversation, threadTs, after),
			});
		}
		return moved;
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

/** A cursor that moved: its field, the value to be set, and how it stands, for the log. */
interface Moved {
	readonly field: string;
	readonly packed: string;
	readonly fact: ReadFact;
}

function standingIn(fields: Fields, conversation: string, posts: readonly Posted[]): Standing {
	const follows = new Map<number, Follow>();
	for (const { message } of posts) {
		if (message.threadTs === null) continue;
		const follow = followIn(fields, conversation, message.threadTs);
		if (follow) follows.set(message.threadTs, follow);
	}
	return { membership: membershipIn(fields, conversation), follows };
}

const NEVER = { isActiveAt: () => false };

const isUpTo = (cursor: number, prevTs: number | null, { ts }: Message): boolean =>
	prevTs !== null && cursor >= prevTs && cursor <= ts;

/** Whether the message before is one that the author has not read. */
const lacks = (
	{ cursor, ahead }: Membership,
	prevTs: number | null,
	previousBy: string | null,
	user: string,
): boolean =>
	prevTs !== null && prevTs > cursor && previousBy !== null && previousBy !== user && !ahead.has(prevTs);

/** A change of now: after the newest one, also where that was stamped by a clock that is ahead. */
const later = (stamp: number, { at }: { readonly at: number }): number => (at > stamp ? at + 1 : stamp);
