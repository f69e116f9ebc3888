/** The oracle's queries: each filters all data every time. oracle.ts has the operations that change the state. */

import { badgeItems, badgeOf, counts } from './badge.ts';
import * as conversations from './conversation.ts';
import * as threads from './threads.ts';
import type { BadgeItem, Conversation, Follow, Message, Row, ThreadCounts, ThreadsView } from './types.ts';

export class OracleView {
	protected readonly conversations = new Map<string, Conversation>();
	/** By user: every change between active and inactive, in the order of the log. Users are inactive before the first one. */
	protected readonly activity = new Map<string, { at: number; active: boolean }[]>();
	readonly #cap: number;

	/** The cap is a parameter only so that a test can reach it. */
	constructor(cap = 10_000) {
		this.#cap = cap;
	}

	/** Undefined if the conversation does not count: archived, left, never joined. */
	row(user: string, c: string): Row | undefined {
		const conversation = this.conversation(c);
		if (!counts(conversation, user)) {
			return undefined;
		}
		const { cursor, revision, muted } = conversations.membershipOf(conversation, user);
		const unread = conversations.unreadMessages(conversation, user).length;
		const mentions = conversations.unreadMentions(conversation, user, this.wasActive).length;
		const shown = Math.min(unread, this.#cap);
		return {
			last_read: cursor,
			revision,
			latest: conversations.newestInTimeline(conversation),
			unread_count: shown,
			unread_count_display: muted ? 0 : shown,
			mention_count: Math.min(mentions, this.#cap),
			has_unreads: shown > 0,
			is_muted: muted,
			unread_count_is_capped: unread > this.#cap,
		};
	}

	rows(user: string): Record<string, Row> {
		const rows: Record<string, Row> = {};
		for (const id of this.conversations.keys()) {
			const row = this.row(user, id);
			if (row !== undefined) {
				rows[id] = row;
			}
		}
		return rows;
	}

	unreads(user: string, c: string): number[] {
		return conversations.unreadMessages(this.conversation(c), user).map((message) => message.ts);
	}

	threads(user: string): ThreadsView {
		const list: ThreadCounts[] = this.follows(user).map((follow) => {
			const conversation = this.conversation(follow.channel);
			return {
				...follow,
				unread: threads.unreadReplies(conversation, follow.thread_ts, user).length,
				mentions: threads.unreadNamingReplies(conversation, follow.thread_ts, user).length,
			};
		});
		const unread = list.reduce((sum, thread) => sum + thread.unread, 0);
		const mentions = list.reduce((sum, thread) => sum + thread.mentions, 0);
		return {
			threads: list,
			totals: { has_unreads: unread > 0, unread_count: unread, mention_count: mentions },
		};
	}

	/** The followed threads in conversations that count, including those without a reply; deleted threads are left out. */
	follows(user: string): Follow[] {
		return this.counting(user).flatMap((conversation) =>
			this.followed(conversation, user).map((threadTs) => ({
				channel: conversation.id,
				thread_ts: threadTs,
				last_read: threads.cursorIn(conversation, threadTs, user) ?? 0,
			})),
		);
	}

	/** Whether `follows` lists the thread, provided that the thread exists. */
	isFollowing(user: string, c: string, threadTs: number): boolean {
		const conversation = this.conversation(c);
		return counts(conversation, user) && threads.cursorIn(conversation, threadTs, user) !== undefined;
	}

	badge(user: string): number {
		return this.counting(user).reduce((sum, each) => sum + badgeOf(each, user, this.wasActive), 0);
	}

	explain(user: string): BadgeItem[] {
		return this.counting(user).flatMap((each) => badgeItems(each, user, this.wasActive));
	}

	members(c: string): string[] {
		const conversation = this.conversation(c);
		return [...conversation.memberships.keys()]
			.filter((user) => conversations.isMember(conversation, user))
			.sort();
	}

	timeline(c: string): number[] {
		return conversations.timeline(this.conversation(c)).map((message) => message.ts);
	}

	/** The members for whom a timeline message is not unread, including its author. */
	readers(c: string, ts: number): string[] {
		return conversations.readersOf(this.conversation(c), ts);
	}

	replies(c: string, threadTs: number): number[] {
		return threads.repliesIn(this.conversation(c), threadTs).map((reply) => reply.ts);
	}

	threadExists(c: string, threadTs: number): boolean {
		return threads.threadExists(this.conversation(c), threadTs);
	}

	/** Everything ever posted, for choosing messages to act on. Read only. */
	messages(c: string): readonly Readonly<Message>[] {
		return this.conversation(c).messages;
	}

	conversation(c: string): Conversation {
		const conversation = this.conversations.get(c);
		if (conversation === undefined) {
			throw new Error(`no conversation ${c}`);
		}
		return conversation;
	}

	readonly wasActive = (user: string, at: number): boolean =>
		this.activity.get(user)?.findLast((change) => change.at <= at)?.active ?? false;

	protected counting(user: string): Conversation[] {
		return [...this.conversations.values()].filter((conversation) => counts(conversation, user));
	}

	protected followed(conversation: Conversation, user: string): number[] {
		return [...conversation.followers.keys()]
			.filter((threadTs) => threads.cursorIn(conversation, threadTs, user) !== undefined)
			.filter((threadTs) => threads.threadExists(conversation, threadTs))
			.sort((a, b) => a - b);
	}
}
