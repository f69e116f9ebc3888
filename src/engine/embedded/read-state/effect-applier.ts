import { isCaughtUp } from '../../../model/counting.ts';
import { threadKey } from '../../../model/ids.ts';
import { checkInvariant } from '../../../model/invariants.ts';
import { joined, left } from '../../../model/membership.ts';
import { inTimeline, type Message } from '../../../model/message.ts';
import type { Timeline } from '../../../model/timeline.ts';
import { NOTHING_AHEAD, readerOf } from '../../../model/views.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { ReadFact } from '../../ports/facts.ts';
import { applyChange } from './apply-change.ts';
import { LoadedConversation, type LoadedUser } from './loaded.ts';
import type { Residents } from './residents.ts';

/** Applies effects to the views in memory. Synchronous: `prepare` has loaded everything it needs. */

export class EffectApplier {
	constructor(private readonly residents: Residents) {}

	apply(effect: Effect): ReadFact[] {
		const { at } = effect;
		const number = this.residents.conversations.of(effect.conversation.id);
		if (effect.type === 'created') {
			const { id, kind, archived } = effect.conversation;
			this.residents.add(new LoadedConversation(number, id, kind, { archived, stamp: at, latest: 0 }));
			for (const user of effect.members) this.join(number, user, 0, at);
			return [];
		}
		this.residents.journal.add(number);
		const conversation = this.residents.peekConversation(number);
		if (!conversation)
			throw new Error(`cannot apply ${effect.type} to ${effect.conversation.id}: it is not loaded`);
		checkInvariant('view_never_goes_back', at >= conversation.stamp);
		conversation.stamp = at;
		switch (effect.type) {
			case 'posted':
				return this.post(conversation, effect.message);
			case 'edited':
				this.edit(conversation, effect.message, at);
				return [];
			case 'deleted':
				this.remove(conversation, effect.previous, at);
				return [];
			case 'reacted':
			case 'pinned':
				return [];
			case 'joined':
				for (const user of effect.users) this.join(number, user, effect.cursor, at);
				return [];
			case 'left':
				this.leave(number, effect.user, at);
				return [];
			case 'changed':
				// Entries were not loaded while it was archived: readers must check again what is loaded.
				if (conversation.archived && !effect.conversation.archived) this.residents.disruptions += 1;
				conversation.archived = effect.conversation.archived;
				return [];
			case 'followed':
				this.withUser(effect.user, at, (user) =>
					user.setFollow(number, effect.threadTs, { cursor: effect.cursor, since: at }),
				);
				return [];
			case 'unfollowed':
				this.withUser(effect.user, at, (user) => user.unfollow(number, effect.threadTs));
				return [];
		}
	}

	private withUser(id: string, at: number, change: (user: LoadedUser) => void): void {
		const user = this.residents.peekUser(id);
		if (!user) {
			this.residents.noteUnloadedChange(id, at);
			return;
		}
		change(user);
		user.stamp = at;
	}

	private join(number: number, id: string, cursor: number, at: number): void {
		this.withUser(id, at, (user) => {
			user.setMembership(number, joined(user.membershipIn(number), cursor));
		});
	}

	private leave(number: number, id: string, at: number): void {
		this.withUser(id, at, (user) => {
			const membership = user.membershipIn(number);
			if (membership) user.setMembership(number, left(membership));
			user.unfollowAll(number);
		});
	}

	private post(conversation: LoadedConversation, message: Message): ReadFact[] {
		const author = this.residents.peekUser(message.user);
		const thread = message.threadTs === null ? undefined : conversation.threads.get(message.threadTs);
		const facts = author ? this.movesOf(conversation, thread, author, message) : [];
		const entry = this.residents.entryOf(message);
		if (inTimeline(message)) conversation.timeline.append(entry);
		thread?.append(entry);
		if (message.threadTs !== null && !thread)
			this.residents.noteUnloadedChange(threadKey(conversation.id, message.threadTs), message.ts);
		return facts;
	}

	/** A post moves the cursor of an author who had read everything before it: in the timeline, and in its thread. */
	private movesOf(
		{ id, number, timeline }: LoadedConversation,
		thread: Timeline | undefined,
		author: LoadedUser,
		message: Message,
	): ReadFact[] {
		const { ts, threadTs } = message;
		const facts: ReadFact[] = [];
		const membership = inTimeline(message) ? author.membershipIn(number) : undefined;
		if (membership && isCaughtUp(timeline, readerOf(author, membership.cursor, membership.ahead), ts)) {
			const cursor = { ts, revision: membership.revision, ahead: NOTHING_AHEAD };
			facts.push(applyChange(author, number, { type: 'cursor', conversation: id, cursor }, ts));
		}
		if (threadTs === null || !thread) return facts;
		const follow = author.follows.get(number)?.get(threadTs);
		if (follow && isCaughtUp(thread, readerOf(author, follow.cursor), ts))
			facts.push(
				applyChange(author, number, { type: 'thread_cursor', conversation: id, threadTs, cursor: ts }, ts),
			);
		return facts;
	}

	private edit(conversation: LoadedConversation, message: Message, at: number): void {
		const entry = this.residents.entryOf(message);
		if (inTimeline(message)) {
			if (message.ts > conversation.timeline.floor) conversation.timeline.update(entry);
			else conversation.changedBelowFloor = at;
		}
		this.inThread(conversation, message, at, (thread) => thread.update(entry));
	}

	private remove(conversation: LoadedConversation, previous: Message, at: number): void {
		if (inTimeline(previous)) {
			if (previous.ts > conversation.timeline.floor) conversation.timeline.remove(previous.ts);
			else conversation.changedBelowFloor = at;
		}
		this.inThread(conversation, previous, at, (thread) => thread.remove(previous.ts));
	}

	private inThread(
		conversation: LoadedConversation,
		message: Message,
		at: number,
		change: (thread: Timeline) => void,
	): void {
		if (message.threadTs === null) return;
		const thread = conversation.threads.get(message.threadTs);
		if (thread) change(thread);
		else this.residents.noteUnloadedChange(threadKey(conversation.id, message.threadTs), at);
	}
}
