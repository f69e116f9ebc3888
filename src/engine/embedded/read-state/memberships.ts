import type { MembershipView, NotificationLevel } from '../../../model/views.ts';

/**
 * What a user has in each conversation, packed: 16 bytes each, sorted by the conversation's number. New
 * conversations have the highest numbers, so joining mostly appends. Former memberships stay: rejoining
 * goes on from their revision.
 */

const LEVELS: readonly NotificationLevel[] = ['all', 'mentions', 'none'];

const MEMBER = 1;
const MUTED = 2;
const LEVEL_SHIFT = 2;
/** Revisions share a word with four bits of flags. */
const REVISION_STEP = 16;

/** What was read ahead is kept beside it: most have none. */
export type Packed = Omit<MembershipView, 'ahead'>;

export class MembershipTable {
	size = 0;
	private numbers: Uint32Array;
	private cursors: Float64Array;
	private words: Uint32Array;

	/** With room for as many, when it is known how many there will be. */
	constructor(capacity = 4) {
		this.numbers = new Uint32Array(capacity);
		this.cursors = new Float64Array(capacity);
		this.words = new Uint32Array(capacity);
	}

	conversationAt(index: number): number {
		return this.numbers[index]!;
	}

	cursorAt(index: number): number {
		return this.cursors[index]!;
	}

	isMemberAt(index: number): boolean {
		return (this.words[index]! & MEMBER) !== 0;
	}

	at(index: number, ahead: ReadonlySet<number>): MembershipView {
		const word = this.words[index]!;
		return {
			member: (word & MEMBER) !== 0,
			muted: (word & MUTED) !== 0,
			level: LEVELS[(word >>> LEVEL_SHIFT) & 3]!,
			revision: Math.floor(word / REVISION_STEP),
			cursor: this.cursors[index]!,
			ahead,
		};
	}

	/** Numbers of conversations, also of those that the user left. */
	conversations(): Uint32Array {
		return this.numbers.subarray(0, this.size);
	}

	/** Index of the conversation, or where it would stand, as -1 - index. */
	find(conversation: number): number {
		let low = 0;
		let high = this.size - 1;
		// Most look-ups in a growing list are of its newest.
		if (high < 0 || this.numbers[high]! < conversation) return -1 - this.size;
		while (low <= high) {
			const middle = (low + high) >>> 1;
			const there = this.numbers[middle]!;
			if (there === conversation) return middle;
			if (there < conversation) low = middle + 1;
			else high = middle - 1;
		}
		return -1 - low;
	}

	set(conversation: number, membership: Packed): void {
		const found = this.find(conversation);
		const index = found >= 0 ? found : this.insert(-1 - found, conversation);
		this.cursors[index] = membership.cursor;
		this.words[index] =
			membership.revision * REVISION_STEP +
			LEVELS.indexOf(membership.level) * (1 << LEVEL_SHIFT) +
			(membership.muted ? MUTED : 0) +
			(membership.member ? MEMBER : 0);
	}

	private insert(index: number, conversation: number): number {
		if (this.size === this.numbers.length) this.grow();
		this.numbers.copyWithin(index + 1, index, this.size);
		this.cursors.copyWithin(index + 1, index, this.size);
		this.words.copyWithin(index + 1, index, this.size);
		this.numbers[index] = conversation;
		this.size += 1;
		return index;
	}

	/** By a quarter: a list that doubled would be half empty, and there is one for each user. */
	private grow(): void {
		const capacity = this.size + Math.max(4, this.size >>> 2);
		const numbers = new Uint32Array(capacity);
		const cursors = new Float64Array(capacity);
		const words = new Uint32Array(capacity);
		numbers.set(this.numbers);
		cursors.set(this.cursors);
		words.set(this.words);
		this.numbers = numbers;
		this.cursors = cursors;
		this.words = words;
	}
}
