/**
 * What a user had unread when a list with the unread ones first was begun. Pages of the list go by it and not by
 * what is unread now: so a conversation stays in its part of the list, whatever is read meanwhile.
 */
export class Listing {
	constructor(
		/** Stamp of the newest change when it was begun: of the same stamp, lists are the same. */
		readonly stamp: number,
		/** Numbers of conversations, ascending. */
		readonly unread: Uint32Array,
	) {}

	hasUnread(conversation: number): boolean {
		return this.unread[lowerBound(this.unread, conversation)] === conversation;
	}
}

/** As many devices of one user can go through the list at once; each takes 4 bytes for a conversation unread. */
const KEPT = 8;

/** The lists that a user is going through: those used last, while the user is in memory. */
export class Listings {
	private kept: readonly Listing[] = [];

	keep(listing: Listing): void {
		const others = this.kept.filter(({ stamp }) => stamp !== listing.stamp);
		this.kept = [...others, listing].slice(-KEPT);
	}

	/** The list that was begun as of this stamp, if it is still there. */
	find(stamp: number): Listing | undefined {
		return this.kept.find((listing) => listing.stamp === stamp);
	}
}

/** Index of the first that is not below `number`. */
export function lowerBound(ascending: Uint32Array, number: number): number {
	let low = 0;
	let high = ascending.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (ascending[middle]! < number) low = middle + 1;
		else high = middle;
	}
	return low;
}
