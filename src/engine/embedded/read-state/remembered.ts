import { byActivity, type InboxOrder, type MemberPosition } from '../../../model/views.ts';
import type { Ids } from '../../ports/views.ts';
import type { Journal } from './journal.ts';
import type { LoadedConversation, LoadedUser } from './loaded.ts';
import type { Residents } from './residents.ts';

/**
 * What is remembered of someone in very many conversations: their order by latest activity, and of which of them something holds. Found
 * by a look at all of them, and after that by a look at those that changed since. It is no truth: whatever can have changed is looked
 * at again before each answer.
 */

/** The part of them that may have changed above which looking at all takes no longer. */
const MANY = 1 / 8;

/** Conversations of which something holds. */
export class LoadedIds implements Ids {
	constructor(
		private readonly residents: Residents,
		/** By number, 1 for each of them. Never changed once it was handed out. */
		readonly marks: Uint8Array,
	) {}

	has(id: string): boolean {
		return this.marks[this.residents.conversations.peek(id) ?? -1] === 1;
	}

	*[Symbol.iterator](): Generator<string> {
		for (const [number, mark] of this.marks.entries())
			if (mark === 1) yield this.residents.conversations.id(number);
	}
}

export class Remembered {
	/** Numbers, the newest first. */
	private order = new Uint32Array(0);
	private readonly ordered = new Since();
	private marks = new Uint8Array(0);
	private marked = new Since();
	private holds: ((place: MemberPosition) => boolean) | undefined;

	constructor(
		private readonly user: LoadedUser,
		private readonly residents: Residents,
	) {}

	where(holds: (place: MemberPosition) => boolean): LoadedIds {
		const { user, residents } = this;
		if (holds !== this.holds) this.marked = new Since();
		this.holds = holds;
		const changed = this.marked.changed(user, residents.journal);
		const marks = new Uint8Array(residents.conversations.size);
		if (changed) marks.set(this.marks);
		for (const number of changed ?? user.memberships.conversations()) {
			const conversation = this.inUse(number);
			const membership = conversation && user.membershipIn(number);
			marks[number] = membership && holds({ user, conversation, membership }) ? 1 : 0;
		}
		this.marks = marks;
		return new LoadedIds(residents, marks);
	}

	newest(start: InboxOrder | null, most: number, among?: Ids, inside = true): LoadedConversation[] {
		this.putInOrder();
		const marks = among && (among as LoadedIds).marks;
		const found: LoadedConversation[] = [];
		for (let index = this.firstAfter(this.order, start); index < this.order.length; index += 1) {
			if (found.length === most) break;
			const number = this.order[index] as number;
			if (marks && (marks[number] === 1) !== inside) continue;
			const conversation = this.inUse(number);
			if (conversation) found.push(conversation);
		}
		return found;
	}

	private putInOrder(): void {
		const changed = this.ordered.changed(this.user, this.residents.journal);
		if (changed?.size === 0) return;
		const fresh = [...(changed ?? this.user.memberships.conversations())]
			.filter((number) => this.inUse(number))
			.sort((a, b) => byActivity(this.placeOf(a), this.placeOf(b)));
		if (!changed) {
			this.order = Uint32Array.from(fresh);
			return;
		}
		const isStale = new Uint8Array(this.residents.conversations.size);
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

	private inUse(number: number): LoadedConversation | undefined {
		const { memberships } = this.user;
		const index = memberships.find(number);
		if (index < 0 || !memberships.isMemberAt(index)) return undefined;
		const conversation = this.residents.peekConversation(number);
		return conversation?.archived ? undefined : conversation;
	}

	private placeOf(number: number): InboxOrder {
		const { id, timeline } = this.residents.peekConversation(number) as LoadedConversation;
		return { conversation: id, latest: timeline.latest };
	}

	private firstAfter(order: Uint32Array, place: InboxOrder | null): number {
		let low = 0;
		let high = place ? order.length : 0;
		while (place && low < high) {
			const middle = (low + high) >>> 1;
			if (byActivity(place, this.placeOf(order[middle] as number)) < 0) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}

/** In a loop of its own: there may be a hundred thousand, and `filter` takes ten times as long. */
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

/** Up to where changes are known. */
class Since {
	private conversations = -1;
	private own = -1;

	/** Numbers of what changed since it was asked last; undefined for anything. */
	changed({ journal: own, memberships }: LoadedUser, journal: Journal): ReadonlySet<number> | undefined {
		const theirs = own.since(this.own);
		const changed = theirs && journal.since(this.conversations);
		this.own = own.end;
		this.conversations = journal.end;
		if (!changed) return undefined;
		const all = new Set([...theirs, ...changed]);
		return all.size > memberships.size * MANY ? undefined : all;
	}
}
