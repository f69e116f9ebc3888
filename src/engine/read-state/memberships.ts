import type { NotificationLevel } from '../../model/views.ts';
import type { StampedMembership } from './user-steps.ts';

/**
 * A user's state in each conversation, packed into 16 bytes (32 with stamps) and sorted by conversation number. New
 * conversations have the highest numbers, so joining usually appends. Former memberships stay: rejoining
 * continues from their revision.
 */

const LEVELS: readonly NotificationLevel[] = ['all', 'mentions', 'none'];

const MEMBER = 1;
const MUTED = 2;
const LEVEL_SHIFT = 2;
/** Revisions share a word with four flag bits. */
const REVISION_STEP = 16;

type Flagged = Pick<StampedMembership, 'member' | 'muted' | 'level'>;

export const membershipFlags = ({ member, muted, level }: Flagged): number =>
	(member ? MEMBER : 0) + (muted ? MUTED : 0) + (LEVELS.indexOf(level) << LEVEL_SHIFT);

const levelIn = (flags: number): NotificationLevel => LEVELS[(flags >>> LEVEL_SHIFT) & 3]!;

/** What `membershipFlags` has packed. */
export const unpackMembershipFlags = (flags: number): Flagged => ({
	member: (flags & MEMBER) !== 0,
	muted: (flags & MUTED) !== 0,
	level: levelIn(flags),
});

/** The ahead set is stored separately: most are empty. */
export type Packed = Omit<StampedMembership, 'ahead'>;

export class MembershipTable {
	size = 0;
	private numbers: Uint32Array;
	private cursors: Float64Array;
	private words: Uint32Array;
	/** `joined` and `at` of each. */
	private stamps: Float64Array | undefined;

	/** `capacity`: the expected number of memberships. */
	constructor(capacity = 4, isStamped = false) {
		this.numbers = new Uint32Array(capacity);
		this.cursors = new Float64Array(capacity);
		this.words = new Uint32Array(capacity);
		if (isStamped) this.stamps = new Float64Array(2 * capacity);
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

	at(index: number, ahead: ReadonlySet<number>): StampedMembership {
		const word = this.words[index]!;
		// Without `unpackMembershipFlags`, because spreads are slow and counting visits up to a hundred thousand memberships.
		return {
			member: (word & MEMBER) !== 0,
			muted: (word & MUTED) !== 0,
			level: levelIn(word),
			revision: Math.floor(word / REVISION_STEP),
			cursor: this.cursors[index]!,
			ahead,
			joined: this.stamps?.[2 * index] ?? 0,
			at: this.stamps?.[2 * index + 1] ?? 0,
		};
	}

	/**
	 * Numbers of conversations, including those that the user has left. A copy: `subarray` would make
	 * JavaScriptCore move `numbers` into a buffer that takes more memory.
	 */
	conversations(): Uint32Array {
		return this.numbers.slice(0, this.size);
	}

	/** Index of the conversation; if absent, -1 - the index where it would be inserted. */
	find(conversation: number): number {
		let low = 0;
		let high = this.size - 1;
		// Most lookups in a growing table are for a conversation after its newest entry.
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
		this.words[index] = membership.revision * REVISION_STEP + membershipFlags(membership);
		this.stamps?.set([membership.joined, membership.at], 2 * index);
	}

	private insert(index: number, conversation: number): number {
		if (this.size === this.numbers.length) this.grow();
		this.numbers.copyWithin(index + 1, index, this.size);
		this.cursors.copyWithin(index + 1, index, this.size);
		this.words.copyWithin(index + 1, index, this.size);
		this.stamps?.copyWithin(2 * index + 2, 2 * index, 2 * this.size);
		this.numbers[index] = conversation;
		this.size += 1;
		return index;
	}

	/** Grows by a quarter: after doubling, half of the table could be empty, and every user has one. */
	private grow(): void {
		const capacity = this.size + Math.max(4, this.size >>> 2);
		this.numbers = grown(this.numbers, new Uint32Array(capacity));
		this.cursors = grown(this.cursors, new Float64Array(capacity));
		this.words = grown(this.words, new Uint32Array(capacity));
		this.stamps &&= grown(this.stamps, new Float64Array(2 * capacity));
	}
}

function grown<List extends Uint32Array | Float64Array>(list: List, larger: List): List {
	larger.set(list);
	return larger;
}
