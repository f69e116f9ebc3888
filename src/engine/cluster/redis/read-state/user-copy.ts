import { Activity } from '../../../../model/activity.ts';
import type { UserReadState } from '../../../ports/store.ts';
import type { AllScope, ConversationScope } from '../../../ports/views.ts';
import { LoadedUser, membershipOf, type UserContext } from '../../../read-state/user.ts';
import type { StampedFollow, StampedMembership, UserState } from '../../../read-state/user-steps.ts';
import {
	ACTIVITY,
	type Fields,
	followField,
	membershipField,
	packFollow,
	packMembership,
	STAMP,
	STORED,
	subjectOf,
	unpackActivity,
	unpackFollow,
	unpackMembership,
} from './packing.ts';

const OWN_BYTES = 600;
/** With its part of `scopes`. */
const MEMBERSHIP_BYTES = 160;
const FOLLOW_BYTES = 150;
const ACTIVITY_BYTES = 8;

/** A user in the memory of this process: the state of the store when it was loaded, and the fields that changed since. */
export class UserCopy extends LoadedUser {
	/** Rises with every change in Redis. */
	version = STORED;
	/** As those of a conversation copy. */
	late = 0;
	lateSeen = 0;
	/** When Redis last confirmed it, by `performance.now()`. */
	checkedMs = performance.now();
	/** Used since the last eviction. */
	used = true;
	/** Scopes of all conversations, computed on first use. */
	readonly scopes = new Map<AllScope, readonly ConversationScope[]>();

	constructor(
		id: string,
		override readonly context: UserContext,
		rows: UserReadState,
		/** The epoch in which it was loaded. */
		readonly epoch: string,
	) {
		super(id, context, rows);
	}

	get bytes(): number {
		let follows = 0;
		for (const threads of this.follows.values()) follows += threads.size;
		const lists = this.memberships.size * MEMBERSHIP_BYTES + follows * FOLLOW_BYTES;
		return OWN_BYTES + lists + this.activity.size * ACTIVITY_BYTES;
	}

	update(version: string, fields: Iterable<readonly [field: string, value: string]>): void {
		this.version = version;
		this.scopes.clear();
		for (const [field, value] of fields) {
			if (field === STAMP) this.stamp = Math.max(this.stamp, Number(value));
			else if (field === 'late') this.late = Number(value);
			else if (field === 'late_seen') this.lateSeen = Number(value);
			else if (field === ACTIVITY) this.activity = new Activity(this.context.starts, unpackActivity(value));
			else setField(this, field, value);
		}
	}
}

/** Sets a membership or a followed thread; ignores other fields. */
function setField(state: UserState, field: string, value: string): void {
	const subject = subjectOf(field);
	if (!subject) return;
	const { conversation, threadTs } = subject;
	if (threadTs === null) state.setMembership(conversation, unpackMembership(value));
	else state.setFollow(conversation, threadTs, unpackFollow(value));
}

/** Changes of a user that are being decided, over the state that they are decided on. */
export class UserDraft implements UserState {
	private readonly memberships = new Map<string, StampedMembership>();
	private readonly follows = new Map<string, StampedFollow | null>();

	constructor(private readonly base?: Pick<UserState, 'membership' | 'follow' | 'followedIn'>) {}

	/** The state in one conversation: rows of the store, and fields in Redis, which are newer. */
	static of(conversation: string, rows: UserReadState | undefined, fields: Fields): UserDraft {
		const draft = new UserDraft();
		for (const row of rows?.memberships ?? [])
			draft.setMembership(conversation, membershipOf(row, rows?.ahead));
		for (const { threadTs, cursor, since, changedTs: at } of rows?.follows ?? [])
			draft.setFollow(conversation, threadTs, { cursor, since, at });
		for (const [field, value] of Object.entries(fields))
			if (subjectOf(field)?.conversation === conversation) setField(draft, field, value);
		return draft;
	}

	membership(conversation: string): StampedMembership | undefined {
		return this.memberships.get(conversation) ?? this.base?.membership(conversation);
	}

	follow(conversation: string, threadTs: number): StampedFollow | undefined {
		const own = this.follows.get(followField(conversation, threadTs));
		return own === undefined ? this.base?.follow(conversation, threadTs) : (own ?? undefined);
	}

	followedIn(conversation: string): readonly number[] {
		const own = [...this.follows.keys()].map(subjectOf).filter((one) => one?.conversation === conversation);
		return [...(this.base?.followedIn(conversation) ?? []), ...own.map((one) => one?.threadTs ?? 0)];
	}

	setMembership(conversation: string, membership: StampedMembership): void {
		this.memberships.set(conversation, membership);
	}

	setFollow(conversation: string, threadTs: number, follow: StampedFollow | null): void {
		this.follows.set(followField(conversation, threadTs), follow);
	}

	/** The changed fields. */
	get fields(): Record<string, string> {
		const fields: Record<string, string> = {};
		for (const [conversation, membership] of this.memberships)
			fields[membershipField(conversation)] = packMembership(membership);
		for (const [field, follow] of this.follows) fields[field] = packFollow(follow);
		return fields;
	}

	/** The newest stamp of a changed membership or followed thread; 0 for none. */
	get newest(): number {
		const changed = [...this.memberships.values(), ...this.follows.values()];
		return Math.max(0, ...changed.map((one) => one?.at ?? 0));
	}
}
