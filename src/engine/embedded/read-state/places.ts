import { hasUnread } from '../../../model/counting.ts';
import type { Timeline } from '../../../model/timeline.ts';
import { readerOf } from './application.ts';
import type { LoadedConversation, LoadedFollow, LoadedUser } from './loaded.ts';
import type { Membership } from './memberships.ts';
import { nextTurn, type Residents } from './residents.ts';

/**
 * Where a user is, loaded as far back as its cursors reach. What is done with a place is done in the turn
 * in which it was found to be loaded, so that nothing can move in between.
 */

export interface Place {
	readonly user: LoadedUser;
	readonly conversation: LoadedConversation;
	readonly membership: Membership;
}

export interface ThreadPlace {
	readonly user: LoadedUser;
	readonly conversation: LoadedConversation;
	readonly threadTs: number;
	readonly thread: Timeline;
	readonly follow: LoadedFollow;
}

const FILLS_PER_TURN = 32;

export class Places {
	constructor(private readonly residents: Residents) {}

	/**
	 * Calls `use` with the place, loaded back to the cursor and to `ts`; answers null where the user is no
	 * member.
	 */
	async at<T>(
		userId: string,
		conversationId: string,
		use: (place: Place) => T,
		ts?: number,
	): Promise<T | null> {
		for (;;) {
			const conversation = await this.residents.conversation(conversationId);
			const user = await this.residents.user(userId);
			const membership = conversation && user.memberships.get(conversation.number);
			if (!conversation || !membership?.member) return null;
			const back = Math.min(membership.cursor, ts ?? membership.cursor);
			if (back >= conversation.timeline.floor) return use({ user, conversation, membership });
			await this.residents.deepen(conversation, back);
		}
	}

	/**
	 * Loads as much of a place as tells whether its user has anything unread there: mostly the newest messages
	 * say so, however far back the cursor is.
	 */
	async untilUnreadIsKnown(userId: string, conversationId: string): Promise<void> {
		for (;;) {
			const conversation = await this.residents.conversation(conversationId);
			const user = await this.residents.user(userId);
			const membership = conversation && user.memberships.get(conversation.number);
			if (!conversation || !membership || membership.cursor >= conversation.timeline.floor) return;
			const ahead = user.ahead.get(conversation.number);
			if (hasUnread(conversation.timeline, readerOf(user, membership.cursor, ahead))) return;
			await this.residents.deepenOneStep(conversation, membership.cursor);
		}
	}

	/** As `at`, for a thread; null where the user does not follow it. */
	async inThread<T>(
		userId: string,
		conversationId: string,
		threadTs: number,
		use: (place: ThreadPlace) => T,
	): Promise<T | null> {
		for (;;) {
			const conversation = await this.residents.conversation(conversationId);
			const user = await this.residents.user(userId);
			const follow = conversation && user.follows.get(conversation.number)?.get(threadTs);
			if (!conversation || !follow) return null;
			const thread = conversation.threads.get(threadTs);
			if (thread) return use({ user, conversation, threadTs, thread, follow });
			await this.residents.thread(conversation, threadTs);
		}
	}

	/** Calls `use` with the user, every conversation and thread that counts for it being loaded. */
	async everywhere<T>(userId: string, use: (user: LoadedUser) => T): Promise<T> {
		for (;;) {
			const user = await this.complete(userId);
			const gaps = this.gaps(user);
			if (gaps.length === 0) return use(user);
			for (const [index, fill] of gaps.entries()) {
				await fill();
				// A user who was away for long has many: the others get their turns in between.
				if (index % FILLS_PER_TURN === FILLS_PER_TURN - 1) await nextTurn();
			}
		}
	}

	/** The user, with all of its conversations in memory. */
	async complete(userId: string): Promise<LoadedUser> {
		await this.residents.complete(await this.residents.user(userId));
		return this.residents.user(userId);
	}

	private gaps(user: LoadedUser): (() => Promise<unknown>)[] {
		const gaps: (() => Promise<unknown>)[] = [];
		const { memberships } = user;
		for (let index = 0; index < memberships.size; index += 1) {
			if (!memberships.isMemberAt(index)) continue;
			const number = memberships.conversationAt(index);
			const conversation = this.residents.peekConversation(number);
			if (!conversation || conversation.archived) continue;
			const cursor = memberships.cursorAt(index);
			if (cursor < conversation.timeline.floor) gaps.push(() => this.residents.deepen(conversation, cursor));
		}
		for (const [number, threads] of user.follows) {
			const conversation = this.residents.peekConversation(number);
			if (!conversation) continue;
			for (const threadTs of threads.keys())
				if (!conversation.threads.has(threadTs))
					gaps.push(() => this.residents.thread(conversation, threadTs));
		}
		return gaps;
	}

	/** The user's conversations that are loaded, archived ones included. */
	*of(user: LoadedUser): Generator<Place> {
		const { memberships } = user;
		for (let index = 0; index < memberships.size; index += 1) {
			if (!memberships.isMemberAt(index)) continue;
			const conversation = this.residents.peekConversation(memberships.conversationAt(index));
			if (conversation) yield { user, conversation, membership: memberships.at(index) };
		}
	}

	/** The threads the user follows, of conversations in use. */
	*threadsOf(user: LoadedUser): Generator<ThreadPlace> {
		for (const [number, threads] of user.follows) {
			const conversation = this.residents.peekConversation(number);
			if (!conversation || conversation.archived) continue;
			for (const [threadTs, follow] of threads) {
				const thread = conversation.threads.get(threadTs);
				if (thread) yield { user, conversation, threadTs, thread, follow };
			}
		}
	}
}
