/**
 * The oracle: docs/model.md computed by brute force. It gets the operations that the server accepted, with the server's
 * stamps, and must then give the same numbers. It imports nothing from src. It must not get an operation that the model
 * would reject (an unknown ts, a user who is not a member); it throws on most of them, to help authors of histories.
 */

import * as conversations from './conversation.ts';
import { namedBy } from './mentions.ts';
import * as threads from './threads.ts';
import type { Conversation, ConversationKind } from './types.ts';
import { OracleView } from './view.ts';

export interface PostOptions {
	threadTs?: number;
	broadcast?: boolean;
}

export class Oracle extends OracleView {
	createConversation(id: string, kind: ConversationKind, members: readonly string[], at: number): void {
		const conversation: Conversation = {
			id,
			kind,
			createdAt: at,
			archived: false,
			messages: [],
			memberships: new Map(),
			followers: new Map(),
		};
		for (const user of members) {
			conversations.join(conversation, user);
		}
		this.conversations.set(id, conversation);
	}

	join(c: string, user: string): void {
		conversations.join(this.#live(c), user);
	}

	/** A leave or a kick: the same for every count. */
	leave(c: string, user: string): void {
		const conversation = this.#live(c);
		conversations.membershipOf(conversation, user).present = false;
		threads.stopFollowingAll(conversation, user);
	}

	archive(c: string): void {
		this.#live(c).archived = true;
	}

	/** Members, cursors and follows stay: archiving only stops the counting. */
	unarchive(c: string): void {
		this.conversation(c).archived = false;
	}

	post(c: string, author: string, text: string, ts: number, options: PostOptions = {}): void {
		const conversation = this.#live(c);
		const membership = conversations.membershipOf(conversation, author);
		const { threadTs, broadcast = false } = options;
		if (threadTs !== undefined && !threads.threadExists(conversation, threadTs)) {
			throw new Error(`${c} has no thread ${threadTs}`);
		}
		const named = namedBy(text, (user) => conversations.isMember(conversation, user), new Set());
		const message = { ts, author, threadTs, broadcast, text, editedAt: undefined, deleted: false, named };
		const hadUnread = conversations.unreadMessages(conversation, author).length > 0;
		const hadUnreadReplies =
			threadTs !== undefined && threads.unreadReplies(conversation, threadTs, author).length > 0;
		conversation.messages.push(message);

		if ((threadTs === undefined || broadcast) && !hadUnread) {
			conversations.advanceCursor(membership, ts);
		}
		if (threadTs === undefined) {
			threads.followOwnRoot(conversation, message);
		} else {
			// Authors follow because they reply; naming themselves adds nothing.
			threads.followOwnReply(conversation, threadTs, message, hadUnreadReplies);
			threads.followWhereNamed(conversation, threadTs, message, named);
		}
	}

	edit(c: string, ts: number, text: string, at: number): void {
		const conversation = this.#live(c);
		const message = conversations.messageAt(conversation, ts);
		const before = message.named;
		message.text = text;
		message.editedAt = at;
		message.named = namedBy(text, (user) => conversations.isMember(conversation, user), before);
		if (message.threadTs !== undefined) {
			const newlyNamed = [...message.named].filter((user) => !before.has(user));
			threads.followWhereNamed(conversation, message.threadTs, message, newlyNamed);
		}
	}

	/** A deleted root with replies is a tombstone: deleted like any other message, while its thread still exists. */
	remove(c: string, ts: number): void {
		conversations.messageAt(this.#live(c), ts).deleted = true;
	}

	mark(c: string, user: string, ts: number, revision?: number): { ignored: boolean } {
		return { ignored: !conversations.markRead(this.#live(c), user, ts, revision) };
	}

	markUnread(c: string, user: string, ts: number): void {
		conversations.markUnread(this.#live(c), user, ts);
	}

	markMessage(c: string, user: string, ts: number): void {
		conversations.markMessage(this.#live(c), user, ts);
	}

	/** Every conversation and thread that counts. Archived ones do not change. */
	markAllRead(user: string): void {
		for (const conversation of this.counting(user)) {
			conversations.markRead(conversation, user, Number.POSITIVE_INFINITY);
			for (const threadTs of this.followed(conversation, user)) {
				threads.markThreadRead(conversation, threadTs, user, Number.POSITIVE_INFINITY);
			}
		}
	}

	mute(c: string, user: string, muted: boolean): void {
		conversations.membershipOf(this.#live(c), user).muted = muted;
	}

	follow(c: string, threadTs: number, user: string, lastRead?: number): void {
		threads.subscribe(this.#live(c), threadTs, user, lastRead);
	}

	unfollow(c: string, threadTs: number, user: string): void {
		threads.stopFollowing(this.#live(c), threadTs, user);
	}

	markThread(c: string, threadTs: number, user: string, ts: number): void {
		threads.markThreadRead(this.#live(c), threadTs, user, ts);
	}

	markThreadUnread(c: string, threadTs: number, user: string, ts: number): void {
		threads.markThreadUnread(this.#live(c), threadTs, user, ts);
	}

	/** From `at` on, including that moment, the user is active or no longer active. */
	setActive(user: string, active: boolean, at: number): void {
		this.activity.set(user, [...(this.activity.get(user) ?? []), { at, active }]);
	}

	#live(c: string): Conversation {
		const conversation = this.conversation(c);
		if (conversation.archived) {
			throw new Error(`${c} is archived`);
		}
		return conversation;
	}
}
