import { byLatestMessage, type InboxOrder, type MemberContext } from '../../../model/views.ts';
import type { Ids } from '../../ports/views.ts';
import type { Journal } from './journal.ts';
import type { ResidentConversation, Residents, ResidentUser } from './residents.ts';

/**
 * Index over the conversations of a user who is in very many: their order by latest activity, and those that match a condition. The
 * first use visits all conversations, later ones only those that changed since. It is a cache: everything that can have changed
 * is checked again before each answer.
 */

/** If a larger share of the conversations has changed, visiting all of them is as fast. */
const MAX_CHANGED_SHARE = 1 / 8;

/** A set of conversations that match a condition. */
export class ConversationSet implements Ids {
	constructor(
		private readonly residents: Residents,
		/** 1 for each number in the set. Immutable once returned. */
		readonly bits: Uint8Array,
	) {}

	has(id: string): boolean {
		return this.bits[this.residents.conversationNumbers.peek(id) ?? -1] === 1;
	}

	*[Symbol.iterator](): Generator<string> {
		for (const [number, bit] of this.bits.entries())
			if (bit === 1) yield this.residents.conversationNumbers.id(number);
	}
}

export class InboxIndex {
	/** Numbers of conversations, newest first. */
	private order = new Uint32Array(0);
	private readonly orderTracker = new ChangeTracker();
	private bits = new Uint8Array(0);
	private whereTracker = new ChangeTracker();
	private holds: ((member: MemberContext) => boolean) | undefined;

	constructor(
		private readonly user: ResidentUser,
		private readonly residents: Residents,
	) {}

	where(holds: (member: MemberContext) => boolean): ConversationSet {
		const { user, residents } = this;
		if (holds !== this.holds) this.whereTracker = new ChangeTracker();
		this.holds = holds;
		const changed = this.whereTracker.changed(user, residents.journal);
		const bits = new Uint8Array(residents.conversationNumbers.size);
		if (changed) bits.set(this.bits);
		for (const number of changed ?? user.memberships.conversations()) {
			const conversation = this.listedConversation(number);
			const membership = conversation && user.membershipIn(number);
			bits[number] = membership && holds({ user, conversation, membership }) ? 1 : 0;
		}
		this.bits = bits;
		return new ConversationSet(residents, bits);
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, isAmong = true): ResidentConversation[] {
		this.putInOrder();
		const bits = among && (among as ConversationSet).bits;
		const found: ResidentConversation[] = [];
		for (let index = this.firstAfter(this.order, start); index < this.order.length; index += 1) {
			if (found.length === most) break;
			const number = this.order[index] as number;
			if (bits && (bits[number] === 1) !== isAmong) continue;
			const conversation = this.listedConversation(number);
			if (conversation) found.push(conversation);
		}
		return found;
	}

	private putInOrder(): void {
		const changed = this.orderTracker.changed(this.user, this.residents.journal);
		if (changed?.size === 0) return;
		const fresh = [...(changed ?? this.user.memberships.conversations())]
			.filter((number) => this.listedConversation(number))
			.sort((a, b) => byLatestMessage(this.placeOf(a), this.placeOf(b)));
		if (!changed) {
			this.order = Uint32Array.from(fresh);
			return;
		}
		const isStale = new Uint8Array(this.residents.conversationNumbers.size);
		for (const number of changed) isStale[number] = 1;
		const kept = without(this.order, isStale);
		const order = new Uint32Array(kept.length + fresh.length);
		let from = 0;
		for (const [index, number] of fresh.entries()) {
			const to = this.firstAfter(kept, this.placeOf(number));
			order.set(kept.subarray(from, to), from + index);
			order[to + index] = number;
			from = to;
		}
		order.set(kept.subarray(from), from + fresh.length);
		this.order = order;
	}

	private listedConversation(number: number): ResidentConversation | undefined {
		const { memberships } = this.user;
		const index = memberships.find(number);
		if (index < 0 || !memberships.isMemberAt(index)) return undefined;
		const conversation = this.residents.peekConversation(number);
		return conversation?.archived ? undefined : conversation;
	}

	private placeOf(number: number): InboxOrder {
		const { id, timeline } = this.residents.peekConversation(number) as ResidentConversation;
		return { conversation: id, latest: timeline.latest };
	}

	private firstAfter(order: Uint32Array, place: InboxOrder | null): number {
		let low = 0;
		let high = place ? order.length : 0;
		while (place && low < high) {
			const middle = (low + high) >>> 1;
			if (byLatestMessage(place, this.placeOf(order[middle] as number)) < 0) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}

/** A plain loop: there can be a hundred thousand numbers, and `filter` takes ten times as long. */
function without(numbers: Uint32Array, isStale: Uint8Array): Uint32Array {
	const kept = new Uint32Array(numbers.length);
	let size = 0;
	for (let index = 0; index < numbers.length; index += 1) {
		const number = numbers[index] as number;
		if (isStale[number] === 1) continue;
		kept[size] = number;
		size += 1;
	}
	return kept.subarray(0, size);
}

/** Remembers up to which change a cache is current. */
class ChangeTracker {
	private conversations = -1;
	private own = -1;

	/** Numbers of conversations changed since the last call; undefined: all may have changed. */
	changed({ journal: own, memberships }: ResidentUser, journal: Journal): ReadonlySet<number> | undefined {
		const ownChanges = own.since(this.own);
		const changed = ownChanges && journal.since(this.conversations);
		this.own = own.end;
		this.conversations = journal.end;
		if (!changed) return undefined;
		const all = new Set([...ownChanges, ...changed]);
		return all.size > memberships.size * MAX_CHANGED_SHARE ? undefined : all;
	}
}
