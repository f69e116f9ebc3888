import { inTimeline, type Message } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Commands } from '../connection.ts';
import type { Keys } from '../keys.ts';
import type { Conversations } from './conversations.ts';
import { packEntry, packFollow, packMembership } from './packing.ts';
import { followField, followIn, membershipField, membershipIn } from './user-state.ts';
import type { Users } from './users.ts';

/**
 * Takes the sequencer's effects into Redis: first the conversation, in one script, then the users that the
 * effect is about. Applying again what was applied, wholly or in part, comes to the same.
 */
export class Application {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly conversations: Conversations,
		private readonly users: Users,
		private readonly ttlSeconds: number,
	) {}

	async apply(effect: Effect): Promise<ReadFact[]> {
		const { at } = effect;
		const { id: conversation, kind, team, archived } = effect.conversation;
		switch (effect.type) {
			case 'created':
				await this.run(conversation, null, at, 'create', 0, kind, archived ? 1 : 0, team);
				await this.users.change(effect.members, { type: 'join', conversation, at, cursor: 0 });
				return [];
			case 'posted': {
				const isNew = await this.change(conversation, at, 'post', effect.message);
				return this.moveAuthor(effect.message, isNew);
			}
			case 'edited':
				await this.change(conversation, at, 'edit', effect.message);
				return [];
			case 'deleted':
				await this.change(conversation, at, 'delete', effect.previous);
				return [];
			case 'changed':
				await this.run(conversation, null, at, 'archived', 0, '', archived ? 1 : 0, 0);
				return [];
			case 'joined':
				await this.touch(conversation, at);
				return this.users.change(effect.users, { type: 'join', conversation, at, cursor: effect.cursor });
			case 'left':
				await this.touch(conversation, at);
				await this.users.change([effect.user], { type: 'leave', conversation, at });
				return [];
			case 'followed': {
				const { threadTs, cursor } = effect;
				await this.touch(conversation, at);
				await this.users.change([effect.user], { type: 'follow', conversation, threadTs, at, cursor });
				return [];
			}
			case 'unfollowed': {
				const { threadTs } = effect;
				await this.touch(conversation, at);
				await this.users.change([effect.user], { type: 'unfollow', conversation, threadTs, at });
				return [];
			}
		}
	}

	private touch(conversation: string, at: number): Promise<boolean> {
		return this.run(conversation, null, at, 'touch', 0, '', 0, 0);
	}

	private change(conversation: string, at: number, change: string, message: Message): Promise<boolean> {
		const { threadTs, ts } = message;
		const inThread = threadTs === null ? 0 : 1;
		const shown = inTimeline(message) ? 1 : 0;
		return this.run(conversation, threadTs, at, change, ts, packEntry(message), shown, inThread);
	}

	/** Runs the script until what it needs is loaded. Answers whether it was applied for the first time. */
	private async run(
		conversation: string,
		threadTs: number | null,
		...change: readonly (string | number)[]
	): Promise<boolean> {
		const { commands, keys, conversations } = this;
		for (;;) {
			const result = await commands.apply(
				keys.meta(conversation),
				keys.timeline(conversation),
				keys.thread(conversation, threadTs ?? 0),
				this.ttlSeconds,
				...change,
			);
			if (result === 0 || result === 1 || result === 2) return result === 1;
			if (result === -2) await conversations.loadThread(conversation, threadTs ?? 0);
			else if (result === -3) await conversations.deepen(conversation);
			else if (!(await conversations.load(conversation)))
				throw new Error(`an effect on ${conversation}, which the store does not have`);
		}
	}

	/** Who had nothing unread before the message has read it: in the timeline, and likewise in its thread. */
	private async moveAuthor(message: Message, isNew: boolean): Promise<ReadFact[]> {
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
