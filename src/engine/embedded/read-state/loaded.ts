import { Activity } from '../../../model/activity.ts';
import type { ConversationKind } from '../../../model/ids.ts';
import { Timeline } from '../../../model/timeline.ts';
import { Memberships } from './memberships.ts';

/** What is in memory of a conversation and of a user. */

export class LoadedConversation {
	archived: boolean;
	/** Stamp of its newest change of any kind. */
	stamp: number;
	readonly timeline: Timeline;
	/** Stamp of the newest edit or delete of an entry that is not loaded. */
	changedBelowFloor = 0;
	/** Threads in use, whole. */
	readonly threads = new Map<number, Timeline>();
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
}

export interface LoadedFollow {
	cursor: number;
	readonly since: number;
}

export class LoadedUser {
	/** Stamp of the newest change of the user's read state. */
	stamp = 0;
	readonly memberships: Memberships;
	/** By conversation number; only where there are any. */
	readonly ahead = new Map<number, ReadonlySet<number>>();
	/** Threads followed, by conversation number and root. */
	readonly follows = new Map<number, Map<number, LoadedFollow>>();
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

	follow(conversation: number, threadTs: number, follow: LoadedFollow): void {
		const threads = this.follows.get(conversation) ?? new Map<number, LoadedFollow>();
		threads.set(threadTs, follow);
		this.follows.set(conversation, threads);
	}

	unfollow(conversation: number, threadTs: number): void {
		const threads = this.follows.get(conversation);
		threads?.delete(threadTs);
		if (threads?.size === 0) this.follows.delete(conversation);
	}
}
