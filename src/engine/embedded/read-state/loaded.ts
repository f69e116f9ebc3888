import { Activity } from '../../../model/activity.ts';
import type { ConversationKind } from '../../../model/ids.ts';
import type { Numbering } from '../../../model/numbering.ts';
import { Timeline } from '../../../model/timeline.ts';
import {
	type ConversationView,
	type FollowView,
	type MembershipView,
	NOTHING_AHEAD,
	type UserView,
} from '../../../model/views.ts';
import type { Loadable } from '../../read-state/timeline-loader.ts';
import { Journal } from './journal.ts';
import { MembershipTable } from './memberships.ts';

/** Conversations and users in memory. */

/** Most conversations have no thread loaded. */
const NO_THREADS: ReadonlyMap<number, Timeline> = new Map();
/** Most users follow nothing. */
const NOTHING_FOLLOWED: ReadonlyMap<number, ReadonlyMap<number, FollowView>> = new Map();

export class LoadedConversation implements ConversationView, Loadable {
	archived: boolean;
	/** Stamp of its newest change. */
	stamp: number;
	readonly timeline: Timeline;
	/** Stamp of the newest edit or delete of an entry that is not loaded. */
	changedBelowFloor = 0;
	private ownThreads: Map<number, Timeline> | undefined;
	usedAt = 0;
	/** Code that still references an evicted conversation must not use it. */
	evicted = false;

	constructor(
		readonly number: number,
		readonly id: string,
		readonly kind: ConversationKind,
		brief: { readonly archived: boolean; readonly stamp: number; readonly latest: number },
	) {
		this.archived = brief.archived;
		this.stamp = brief.stamp;
		this.timeline = new Timeline(brief.latest);
	}

	/** Rows below the floor are outdated if one of them changed since. */
	get loadVersion(): number {
		return this.changedBelowFloor;
	}

	/** Loaded threads; each is complete. */
	get threads(): ReadonlyMap<number, Timeline> {
		return this.ownThreads ?? NO_THREADS;
	}

	keepThread(threadTs: number, thread: Timeline): void {
		this.ownThreads ??= new Map();
		this.ownThreads.set(threadTs, thread);
	}
}

export class LoadedUser implements UserView {
	/** Stamp of the newest change of the user's read state. */
	stamp = 0;
	readonly memberships: MembershipTable;
	/** Conversations where the user's own state changed; created on first use. */
	private ownJournal: Journal | undefined;
	/** `Residents.disruptions` when all entries after the user's cursors were last known to be loaded. */
	reachedAt = -1;
	/** Numbers of conversations that the user joined, or whose cursor moved back, since `reachedAt`. */
	readonly setBack = new Set<number>();
	private ahead: Map<number, ReadonlySet<number>> | undefined;
	private ownFollows: Map<number, Map<number, FollowView>> | undefined;
	readonly activity: Activity;
	usedAt = 0;
	/** Cache of `MemorySnapshot` for users in very many conversations. */
	inboxIndex: object | undefined;
	/** `Residents.disruptions` when all of the user's conversations were last known to be loaded. */
	completeAt = -1;

	constructor(
		readonly number: number,
		readonly id: string,
		starts: readonly number[],
		expectedMemberships: number,
		private readonly conversations: Numbering,
	) {
		this.memberships = new MembershipTable(expectedMemberships);
		this.activity = new Activity(starts);
	}

	/** Stamp of the newest change of the user, including activity. */
	get newestChange(): number {
		return Math.max(this.stamp, this.activity.newest);
	}

	membership(conversation: string): MembershipView | undefined {
		const number = this.conversations.peek(conversation);
		return number === undefined ? undefined : this.membershipIn(number);
	}

	membershipIn(conversation: number): MembershipView | undefined {
		const index = this.memberships.find(conversation);
		return index < 0 ? undefined : this.membershipAt(index);
	}

	membershipAt(index: number): MembershipView {
		const ahead = this.ahead?.get(this.memberships.conversationAt(index));
		return this.memberships.at(index, ahead ?? NOTHING_AHEAD);
	}

	get journal(): Journal {
		this.ownJournal ??= new Journal();
		return this.ownJournal;
	}

	setMembership(conversation: number, membership: MembershipView): void {
		this.ownJournal?.add(conversation);
		const index = this.memberships.find(conversation);
		const { memberships } = this;
		const isKnown = index >= 0 && memberships.isMemberAt(index);
		const isSetBack = !isKnown || membership.cursor < memberships.cursorAt(index);
		if (isSetBack && this.reachedAt >= 0) this.setBack.add(conversation);
		this.memberships.set(conversation, membership);
		if (membership.ahead.size === 0) this.ahead?.delete(conversation);
		else this.ahead = (this.ahead ?? new Map()).set(conversation, membership.ahead);
	}

	/** Followed threads, by conversation number and root. */
	get follows(): ReadonlyMap<number, ReadonlyMap<number, FollowView>> {
		return this.ownFollows ?? NOTHING_FOLLOWED;
	}

	follow(conversation: string, threadTs: number): FollowView | undefined {
		const number = this.conversations.peek(conversation);
		return number === undefined ? undefined : this.follows.get(number)?.get(threadTs);
	}

	unfollowAll(conversation: number): void {
		this.ownFollows?.delete(conversation);
	}

	setFollow(conversation: number, threadTs: number, follow: FollowView): void {
		this.ownFollows ??= new Map();
		const threads = this.ownFollows.get(conversation) ?? new Map<number, FollowView>();
		threads.set(threadTs, follow);
		this.ownFollows.set(conversation, threads);
	}

	unfollow(conversation: number, threadTs: number): void {
		const threads = this.ownFollows?.get(conversation);
		threads?.delete(threadTs);
		if (threads?.size === 0) this.ownFollows?.delete(conversation);
	}
}
