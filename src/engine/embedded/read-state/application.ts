import { hasUnread } from '../../../model/counting.ts';
import { inTimeline, type Message } from '../../../model/message.ts';
import type { Timeline } from '../../../model/timeline.ts';
import { readerOf } from '../../../model/views.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { ReadFact } from '../../ports/facts.ts';
import { LoadedConversation, type LoadedUser } from './loaded.ts';
import type { Membership } from './memberships.ts';
import { type Residents, threadKey } from './residents.ts';

/** Takes the sequencer's effects into memory. Synchronous: `prepare` loaded what this needs. */

export class Application {
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
		const conversation = this.residents.peekConversation(number);
		if (!conversation) throw new Error(`${effect.type} of ${effect.conversation.id}: not prepared`);
		conversation.stamp = at;
		switch (effect.type) {
			case 'posted':
				return this.post(conversation, effect.message);
			case 'edited':
				if (effect.message.named.join() !== effect.previous.named.join()) this.residents.withdrawals += 1;
				this.edit(conversation, effect.message, at);
				return [];
			case 'deleted':
				this.remove(conversation, effect.previous, at);
				return [];
			case 'joined':
				for (const user of effect.users) this.join(number, user, effect.cursor, at);
				return [];
			case 'left':
				this.leave(number, effect.user, at);
				return [];
			case 'changed':
				if (conversation.archived !== effect.conversation.archived) this.residents.withdrawals += 1;
				conversation.archived = effect.conversation.archived;
				return [];
			case 'followed':
				this.withUser(effect.user, at, (user) =>
					user.follow(number, effect.threadTs, { cursor: effect.cursor, since: at }),
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
			this.residents.passBy(id, at);
			return;
		}
		change(user);
		user.stamp = at;
	}

	/** Rejoining starts anew, with a revision above the old one. */
	private join(number: number, id: string, cursor: number, at: number): void {
		this.withUser(id, at, (user) => {
			const former = user.memberships.get(number);
			const revision = former ? former.revision + 1 : 0;
			user.setMembership(number, { member: true, muted: false, level: 'all', revision, cursor });
			user.dropAhead(number);
		});
	}

	private leave(number: number, id: string, at: number): void {
		this.withUser(id, at, (user) => {
			const membership = user.memberships.get(number);
			if (membership) user.setMembership(number, { ...membership, member: false });
			user.unfollowAll(number);
			user.dropAhead(number);
		});
	}

	private post(conversation: LoadedConversation, message: Message): ReadFact[] {
		const author = this.residents.peekUser(message.user);
		const facts: ReadFact[] = [];
		if (inTimeline(message)) {
			const membership = author?.memberships.get(conversation.number);
			const caughtUp = author && membership && !this.hasUnreadIn(conversation, author, membership);
			conversation.timeline.append(this.residents.entryOf(message));
			this.residents.recency.touch(conversation);
			if (author && membership && caughtUp) facts.push(moveOnto(conversation, author, membership, message));
		}
		if (message.threadTs !== null) {
			const thread = conversation.threads.get(message.threadTs);
			const fact = thread && author && this.replied(conversation, thread, author, message);
			if (fact) facts.push(fact);
			thread?.append(this.residents.entryOf(message));
			if (!thread) this.residents.passBy(threadKey(conversation.id, message.threadTs), message.ts);
		}
		return facts;
	}

	private hasUnreadIn(conversation: LoadedConversation, author: LoadedUser, membership: Membership): boolean {
		const { timeline } = conversation;
		// Something that is not loaded may be unread: then the cursor stays, which is never wrong.
		if (membership.cursor < timeline.floor) return true;
		const ahead = author.ahead.get(conversation.number);
		return hasUnread(timeline, readerOf(author, membership.cursor, ahead));
	}

	/** A reply moves its author's thread cursor onto it if nothing in the thread was unread. */
	private replied(
		conversation: LoadedConversation,
		thread: Timeline,
		author: LoadedUser,
		message: Message,
	): ReadFact | undefined {
		const threadTs = message.threadTs as number;
		const follow = author.follows.get(conversation.number)?.get(threadTs);
		if (!follow || hasUnread(thread, readerOf(author, follow.cursor))) return undefined;
		follow.cursor = message.ts;
		author.stamp = message.ts;
		return {
			type: 'thread_cursor',
			user: author.id,
			conversation: conversation.id,
			threadTs,
			at: message.ts,
			cursor: message.ts,
		};
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
			this.residents.withdrawals += 1;
			const { timeline } = conversation;
			const { latest } = timeline;
			if (previous.ts > timeline.floor) timeline.remove(previous.ts);
			else conversation.changedBelowFloor = at;
			if (timeline.latest !== latest) this.residents.recency.touch(conversation);
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
		else this.residents.passBy(threadKey(conversation.id, message.threadTs), at);
	}
}

/** The author had nothing unread: the cursor moves onto the message. */
function moveOnto(
	conversation: LoadedConversation,
	author: LoadedUser,
	membership: Membership,
	message: Message,
): ReadFact {
	const hadAhead = author.dropAhead(conversation.number);
	author.setMembership(conversation.number, { ...membership, cursor: message.ts });
	author.stamp = message.ts;
	return {
		type: 'cursor',
		user: author.id,
		conversation: conversation.id,
		at: message.ts,
		cursor: message.ts,
		revision: membership.revision,
		...(hadAhead ? { ahead: { dropUpTo: message.ts } } : {}),
	};
}
