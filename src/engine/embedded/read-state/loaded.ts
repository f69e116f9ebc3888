import { Activity } from '../../../model/activity.ts';
import type { ConversationKind } from '../../../model/ids.ts';
import { Timeline } from '../../../model/timeline.ts';
import { type Membership, Memberships } from './memberships.ts';

/** What is in memory of a conversation and of a user. */

/** Of most conversations no thread is in use. */
const NO_THREADS: ReadonlyMap<number, Timeline> = new Map();
/** Most users have read nothing ahead and follow nothing. */
const NOTHING_AHEAD: ReadonlyMap<number, ReadonlySet<number>> = new Map();
const NOTHING_FOLLOWED: ReadonlyMap<number, ReadonlyMap<number, LoadedFollow>> = new Map();

export class LoadedConversation {
	archived: boolean;
	/** Stamp of its newest change of any kind. */
	stamp: number;
	readonly timeline: Timeline;
	/** Stamp of the newest edit or delete of an entry that is not loaded. */
	changedBelowFloor = 0;
	private ownThreads: Map<number, Timeline> | undefined;
	usedAt = 0;
	/** No longer in memory; whoever still holds it must not count with it. */
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

	/** Threads in use, whole. */
	get threads(): ReadonlyMap<number, Timeline> {
		return this.ownThreads ?? NO_THREADS;
	}

	keepThread(threadTs: number, thread: Timeline): void {
		this.ownThreads ??= new Map();
		this.ownThreads.set(threadTs, thread);
	}
}

export interface LoadedFollow {
	cursor: number;
	readonly since: number;
}

export class LoadedUser {
	/** Stamp of the newest change of the user's read state. */
	stamp = 0;
	/** To be changed through `setMembership`. */
	readonly memberships: Memberships;
	/** Where somebody wants to know, conversations where the user's own state changed are put in here. */
	touched: Set<number> | null = null;
	private ownAhead: Map<number, ReadonlySet<number>> | undefined;
	private ownFollows: Map<number, Map<number, LoadedFollow>> | undefined;
	readonly activity: Activity;
	usedAt = 0;
	/** All of the user's conversations were in memory when so many evictions had taken place. */
	completeAt = -1;

	constructor(
		readonly number: number,
		readonly id: string,
		starts: readonly number[],
		places: number,
	) {
		this.memberships = new Memberships(places);
		this.activity = new Activity(starts);
	}

	/** Stamp of the newest change of anything kept here. */
	get newestChange(): number {
		return Math.max(this.stamp, this.activity.newest);
	}

	setMembership(conversation: number, membership: Membership): void {
		this.memberships.set(conversation, membership);
		this.touched?.add(conversation);
	}

	/** By conversation number; only where there are any. */
	get ahead(): ReadonlyMap<number, ReadonlySet<number>> {
		return this.ownAhead ?? NOTHING_AHEAD;
	}

	/** Answers whether there was anything. */
	dropAhead(conversation: number): boolean {
		return this.ownAhead?.delete(conversation) ?? false;
	}

	setAhead(conversation: number, ahead: ReadonlySet<number>): void {
		this.ownAhead ??= new Map();
		this.ownAhead.set(conversation, ahead);
	}

	/** Threads followed, by conversation number and root. */
	get follows(): ReadonlyMap<number, ReadonlyMap<number, LoadedFollow>> {
		return this.ownFollows ?? NOTHING_FOLLOWED;
	}

	unfollowAll(conversation: number): void {
		this.ownFollows?.delete(conversation);
	}

	follow(conversation: number, threadTs: number, follow: LoadedFollow): void {
		this.ownFollows ??= new Map();
		const threads = this.ownFollows.get(conversation) ?? new Map<number, LoadedFollow>();
		threads.set(threadTs, follow);
		this.ownFollows.set(conversation, threads);
	}

	unfollow(conversation: number, threadTs: number): void {
		const threads = this.ownFollows?.get(conversation);
		threads?.delete(threadTs);
		if (threads?.size === 0) this.ownFollows?.delete(conversation);
	}
}
