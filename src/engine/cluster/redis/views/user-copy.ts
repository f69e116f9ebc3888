import { Activity } from '../../../../model/activity.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import type { UserView } from '../../../../model/views.ts';
import type { AllScope, ConversationScope } from '../../../ports/views.ts';
import { type RedisFollow, type RedisMembership, unpackMembership } from '../read-state/packing.ts';
import {
	ACTIVITY,
	activityIn,
	type Fields,
	followEntries,
	followIn,
	membershipEntries,
	membershipIn,
	STAMP,
	stampIn,
} from '../read-state/user-state.ts';

/** An immutable copy of a user's read state in Redis. */

const OWN_BYTES = 300;
/** A field besides its name and value: stored as text, unpacked on use. */
const FIELD_BYTES = 250;

export interface MembershipOf {
	readonly conversation: string;
	readonly membership: RedisMembership;
}

export class UserCopy implements UserView {
	readonly number: number;
	readonly stamp: number;
	used = true;
	/** Scopes of all conversations, computed on first use. */
	readonly scopes = new Map<AllScope, readonly ConversationScope[]>();
	private unpacked: readonly MembershipOf[] | undefined;
	private followed: ReturnType<typeof followEntries> | undefined;
	private active: Activity | undefined;

	constructor(
		readonly id: string,
		readonly base: string,
		readonly fields: Fields,
		readonly numbering: Numbering,
		/** Start times of servers: a start ends all earlier activity. */
		private readonly starts: readonly number[],
	) {
		this.number = numbering.of(id);
		this.stamp = stampIn(fields);
	}

	/** Identifies the copy for user-view-2.lua. */
	get identity(): readonly [stamp: string, activity: number, base: string] {
		return [this.fields[STAMP] ?? '', this.fields[ACTIVITY]?.length ?? 0, this.base];
	}

	isSameAs(other: UserCopy): boolean {
		return this === other || this.identity.join() === other.identity.join();
	}

	get bytes(): number {
		return OWN_BYTES + Object.keys(this.fields).length * FIELD_BYTES;
	}

	get activity(): Activity {
		if (!this.active) {
			this.active = new Activity(this.starts);
			this.active.replace(activityIn(this.fields));
		}
		return this.active;
	}

	membership(conversation: string): RedisMembership | undefined {
		return membershipIn(this.fields, conversation);
	}

	follow(conversation: string, threadTs: number): RedisFollow | undefined {
		return followIn(this.fields, conversation, threadTs);
	}

	/** Including conversations that the user has left. */
	get memberships(): readonly MembershipOf[] {
		this.unpacked ??= membershipEntries(this.fields);
		return this.unpacked;
	}

	get follows(): ReturnType<typeof followEntries> {
		this.followed ??= followEntries(this.fields);
		return this.followed;
	}

	/** A copy with these fields changed; '' removes one. */
	with(changed: Fields): UserCopy {
		const fields: Record<string, string> = { ...this.fields, ...changed };
		for (const [field, value] of Object.entries(changed)) if (value === '') delete fields[field];
		const copy = new UserCopy(this.id, this.base, fields, this.numbering, this.starts);
		if (this.unpacked) copy.unpacked = withChanged(this.unpacked, changed);
		return copy;
	}
}

/** Keeps unchanged memberships unpacked: there can be a hundred thousand. */
function withChanged(before: readonly MembershipOf[], changed: Fields): readonly MembershipOf[] {
	const unpacked = new Map(
		Object.entries(changed)
			.filter(([field]) => field.startsWith('c:'))
			.map(([field, packed]) => [field.slice(2), unpackMembership(packed)]),
	);
	if (unpacked.size === 0) return before;
	const after = before.map((one) => {
		const membership = unpacked.get(one.conversation);
		unpacked.delete(one.conversation);
		return membership ? { conversation: one.conversation, membership } : one;
	});
	for (const [conversation, membership] of unpacked) after.push({ conversation, membership });
	return after;
}
