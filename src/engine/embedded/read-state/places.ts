import { hasUnread } from '../../../model/counting.ts';
import type { Timeline } from '../../../model/timeline.ts';
import { readerOf } from '../../../model/views.ts';
import { type Depth, nextTurn } from './depths.ts';
import type { LoadedConversation, LoadedFollow, LoadedUser } from './loaded.ts';
import type { Membership } from './memberships.ts';
import type { Residents } from './residents.ts';

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

const THREADS_PER_TURN = 32;

const toCursor = ({ cursor }: Membership): number => cursor;

export class Places {
	constructor(private readonly residents: Residents) {}

	/**
	 * Calls `use` with the place, loaded as far as `backTo` says, by default to the cursor; answers null where the user is
	 * no member.
	 */
	async at<T>(
		userId: string,
		conversationId: string,
		use: (place: Place) => T,
		backTo: (membership: Membership) => number = toCursor,
	): Promise<T | null> {
		for (;;) {
			const conversation = await this.residents.conversation(conversationId);
			const user = await this.residents.user(userId);
			const membership = conversation && user.memberships.get(conversation.number);
			if (!conversation || !membership?.member) return null;
			const back = backTo(membership);
			if (back >= conversation.timeline.floor) return use({ user, conversation, membership });
			await this.residents.depths.reach(conversation, back);
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
			await this.residents.depths.oneStep(conversation, membership.cursor);
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
		return this.untilLoaded(userId, (user) => (this.hasGaps(user) ? undefined : use(user)));
	}

	/**
	 * Calls `use` with the user and all of its conversations; where it answers undefined, having met one that
	 * is not loaded as far back as is needed, it is called again when all of them are.
	 */
	async untilLoaded<T>(userId: string, use: (user: LoadedUser) => T | undefined): Promise<T> {
		for (;;) {
			const user = await this.complete(userId);
			const result = use(user);
			if (result !== undefined) return result;
			await this.fillGaps(user);
		}
	}

	/** The user, with all of its conversations in memory. */
	async complete(userId: string): Promise<LoadedUser> {
		await this.residents.complete(await this.residents.user(userId));
		return this.residents.user(userId);
	}

	private hasGaps(user: LoadedUser): boolean {
		const { memberships } = user;
		for (let index = 0; index < memberships.size; index += 1) if (this.gapAt(user, index)) return true;
		return !this.hasThreadsOf(user);
	}

	/** The conversation there, when it counts and is not loaded as far back as its cursor. */
	private gapAt({ memberships }: LoadedUser, index: number): LoadedConversation | undefined {
		if (!memberships.isMemberAt(index)) return undefined;
		const conversation = this.residents.peekConversation(memberships.conversationAt(index));
		if (!conversation || conversation.archived) return undefined;
		return memberships.cursorAt(index) < conversation.timeline.floor ? conversation : undefined;
	}

	private async fillGaps(user: LoadedUser): Promise<void> {
		const { memberships } = user;
		const depths: Depth[] = [];
		for (let index = 0; index < memberships.size; index += 1) {
			const conversation = this.gapAt(user, index);
			if (conversation) depths.push({ conversation, ts: memberships.cursorAt(index) });
		}
		await this.residents.depths.reachAll(depths);
		for (const [index, { conversation, threadTs }] of [...this.missingThreadsOf(user)].entries()) {
			await this.residents.thread(conversation, threadTs);
			// Somebody may follow many: the others get their turns in between.
			if (index % THREADS_PER_TURN === THREADS_PER_TURN - 1) await nextTurn();
		}
	}

	/** Whether every thread that the user follows is in memory. */
	hasThreadsOf(user: LoadedUser): boolean {
		return this.missingThreadsOf(user).next().done === true;
	}

	private *missingThreadsOf(user: LoadedUser) {
		for (const [number, threads] of user.follows) {
			const conversation = this.residents.peekConversation(number);
			if (!conversation) continue;
			for (const threadTs of threads.keys())
				if (!conversation.threads.has(threadTs)) yield { conversation, threadTs };
		}
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

	/** Stamp of the newest change that concerns the user. What happens elsewhere does not move it. */
	stampOf(user: LoadedUser): number {
		let { stamp } = user;
		for (const { conversation } of this.of(user)) stamp = Math.max(stamp, conversation.stamp);
		return stamp;
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
