import { Activity } from '../../model/activity.ts';
import type { Numbering } from '../../model/numbering.ts';
import {
	type ConversationView,
	type FollowerContext,
	NOTHING_AHEAD,
	type UserView,
} from '../../model/views.ts';
import type { UserReadState } from '../ports/store.ts';
import { MembershipTable } from './memberships.ts';
import type { StampedFollow, StampedMembership, UserState } from './user-steps.ts';

/** A user in memory. */

/** Followed threads by root. */
type Follows = Map<number, StampedFollow>;

/** Most users follow nothing. */
const NOTHING_FOLLOWED: ReadonlyMap<number, Follows> = new Map();

/** What users of one process share. */
export interface UserContext {
	/** Numbers of users and of conversations. */
	readonly userNumbers: Numbering;
	readonly conversationNumbers: Numbering;
	/** Start times of servers: a start ends all earlier activity. */
	readonly starts: readonly number[];
	/** Whether memberships have stamps. */
	readonly isStamped: boolean;
}

export class LoadedUser implements UserView, UserState {
	readonly number: number;
	/** Stamp of the newest change of the user's read state. */
	stamp: number;
	readonly memberships: MembershipTable;
	activity: Activity;
	private ahead: Map<number, ReadonlySet<number>> | undefined;
	private ownFollows: Map<number, Follows> | undefined;

	constructor(
		readonly id: string,
		protected readonly context: UserContext,
		rows: UserReadState,
	) {
		const { userNumbers, starts, isStamped } = context;
		this.number = userNumbers.of(id);
		this.memberships = new MembershipTable(rows.memberships.length, isStamped);
		this.activity = new Activity(starts, rows.activity);
		this.stamp = rows.stamp;
		const aheadOf = Map.groupBy(rows.ahead, ({ conversation }) => conversation);
		for (const row of rows.memberships)
			this.setMembership(row.conversation, membershipOf(row, aheadOf.get(row.conversation)));
		for (const { conversation, threadTs, cursor, since, changedTs: at } of rows.follows)
			this.setFollow(conversation, threadTs, { cursor, since, at });
	}

	membership(conversation: string): StampedMembership | undefined {
		const number = this.context.conversationNumbers.peek(conversation);
		return number === undefined ? undefined : this.membershipIn(number);
	}

	membershipIn(conversation: number): StampedMembership | undefined {
		const index = this.memberships.find(conversation);
		return index < 0 ? undefined : this.membershipAt(index);
	}

	membershipAt(index: number): StampedMembership {
		const ahead = this.ahead?.get(this.memberships.conversationAt(index));
		return this.memberships.at(index, ahead ?? NOTHING_AHEAD);
	}

	setMembership(conversation: string, membership: StampedMembership): void {
		const number = this.context.conversationNumbers.of(conversation);
		this.memberships.set(number, membership);
		if (membership.ahead.size === 0) this.ahead?.delete(number);
		else this.ahead = (this.ahead ?? new Map()).set(number, membership.ahead);
	}

	/** Followed threads, by conversation number and root. */
	get follows(): ReadonlyMap<number, ReadonlyMap<number, StampedFollow>> {
		return this.ownFollows ?? NOTHING_FOLLOWED;
	}

	/** The followed threads of loaded, unarchived conversations. */
	*threadsIn(conversationOf: (number: number) => ConversationView | undefined): Generator<FollowerContext> {
		for (const [number, threads] of this.follows) {
			const conversation = conversationOf(number);
			if (!conversation || conversation.archived) continue;
			for (const [threadTs, follow] of threads) {
				const thread = conversation.threads.get(threadTs);
				if (thread) yield { user: this, conversation, threadTs, thread, follow };
			}
		}
	}

	private followsIn(conversation: string): Follows | undefined {
		return this.ownFollows?.get(this.context.conversationNumbers.peek(conversation) ?? -1);
	}

	follow(conversation: string, threadTs: number): StampedFollow | undefined {
		return this.followsIn(conversation)?.get(threadTs);
	}

	followedIn(conversation: string): readonly number[] {
		return [...(this.followsIn(conversation)?.keys() ?? [])];
	}

	setFollow(conversation: string, threadTs: number, follow: StampedFollow | null): void {
		const number = this.context.conversationNumbers.of(conversation);
		this.ownFollows ??= new Map();
		const threads = this.ownFollows.get(number) ?? (new Map() as Follows);
		if (follow) threads.set(threadTs, follow);
		else threads.delete(threadTs);
		if (threads.size > 0) this.ownFollows.set(number, threads);
		else this.ownFollows.delete(number);
	}
}

/** The membership in a row of the store. */
export function membershipOf(
	row: UserReadState['memberships'][number],
	ahead: UserReadState['ahead'] | undefined,
): StampedMembership {
	const { member, muted, level, revision, cursor, awaitedJoin = 0 } = row;
	// Entries of an earlier membership may be left over, at or before the cursor.
	const later = (ahead ?? []).map(({ ts }) => ts).filter((ts) => ts > cursor);
	return {
		member,
		muted,
		level,
		revision,
		cursor,
		ahead: later.length > 0 ? new Set(later) : NOTHING_AHEAD,
		joined: Math.max(row.joinedTs, awaitedJoin),
		at: row.changedTs,
		...(awaitedJoin > 0 ? { isJoinAwaited: true } : {}),
	};
}
