import { showsUnread } from '../../../model/counting.ts';
import { readerOf } from '../../../model/views.ts';
import { Listings, lowerBound } from './listings.ts';
import type { LoadedUser } from './loaded.ts';
import type { Residents } from './residents.ts';

/**
 * In which of its conversations a user has something unread, for inboxes that show those first. Found out by a
 * look at all of them, and after that by a look at those that can have changed: what the user marked, joined or
 * left, and what was posted to. Where anything was deleted or archived meanwhile, or an edit changed whom a message
 * names, all are looked at again.
 *
 * It is no count and no truth: every answer is what `showsUnread` says now.
 */

/** Up to so many conversations are all looked at. */
const FEW = 512;
/** The part of them that may have changed above which looking at all takes no longer. */
const MANY = 1 / 8;

export class UnreadIndex {
	/** The lists made of it that are still gone through. */
	readonly listings = new Listings();
	/** Ascending; never changed, so that it can be handed out. */
	private unread: Uint32Array = new Uint32Array(0);
	/** Everything up to this stamp is in it. */
	private asOf = -1;
	private withdrawals = -1;
	/** Conversations where the user's own state changed since. */
	private readonly touched = new Set<number>();

	constructor(
		private readonly user: LoadedUser,
		private readonly residents: Residents,
	) {
		user.touched = this.touched;
	}

	/** Numbers of the conversations; undefined where one is not loaded as far back as the user's cursor. */
	take(stamp: number): Uint32Array | undefined {
		const changed = this.changed();
		const unread = changed ? this.patched(changed) : this.all();
		if (!unread) return undefined;
		this.unread = unread;
		this.asOf = stamp;
		this.withdrawals = this.residents.withdrawals;
		this.touched.clear();
		return unread;
	}

	/** Those that can have changed, ascending; undefined for any of them. */
	private changed(): number[] | undefined {
		if (this.asOf < 0 || this.withdrawals !== this.residents.withdrawals) return undefined;
		const { size } = this.user.memberships;
		if (size <= FEW) return undefined;
		const most = size * MANY;
		const changed = new Set(this.touched);
		for (const { number, timeline } of this.residents.recency.walk(Number.MAX_SAFE_INTEGER)) {
			if (timeline.latest <= this.asOf) break;
			changed.add(number);
			if (changed.size > most) return undefined;
		}
		return [...changed].sort((a, b) => a - b);
	}

	/** What was unread, with these looked at again. */
	private patched(changed: readonly number[]): Uint32Array | undefined {
		if (changed.length === 0) return this.unread;
		const patched = new Uint32Array(this.unread.length + changed.length);
		let size = 0;
		let from = 0;
		for (const number of changed) {
			const isUnread = this.isUnreadAt(this.user.memberships.find(number));
			if (isUnread === undefined) return undefined;
			const to = lowerBound(this.unread, number);
			patched.set(this.unread.subarray(from, to), size);
			size += to - from;
			from = this.unread[to] === number ? to + 1 : to;
			if (!isUnread) continue;
			patched[size] = number;
			size += 1;
		}
		patched.set(this.unread.subarray(from), size);
		return patched.slice(0, size + this.unread.length - from);
	}

	private all(): Uint32Array | undefined {
		const { memberships } = this.user;
		const all = new Uint32Array(memberships.size);
		let size = 0;
		for (let index = 0; index < memberships.size; index += 1) {
			const isUnread = this.isUnreadAt(index);
			if (isUnread === undefined) return undefined;
			if (!isUnread) continue;
			all[size] = memberships.conversationAt(index);
			size += 1;
		}
		return all.slice(0, size);
	}

	/** Of the membership at this index. */
	private isUnreadAt(index: number): boolean | undefined {
		const { user, residents } = this;
		if (index < 0 || !user.memberships.isMemberAt(index)) return false;
		const conversation = residents.peekConversation(user.memberships.conversationAt(index));
		const cursor = user.memberships.cursorAt(index);
		if (!conversation || conversation.archived || conversation.timeline.latest <= cursor) return false;
		if (cursor < conversation.timeline.floor) return undefined;
		const reader = readerOf(user, cursor, user.ahead.get(conversation.number));
		return showsUnread(conversation.timeline, reader, user.memberships.isMutedAt(index));
	}
}
